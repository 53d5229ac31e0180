"""The rules that hold unless the configuration turns them off: what to skip on any site.

Links of the machinery around a page say nothing about whom it points to. Only hosts and paths that
serve nothing else are listed: a company's own site is a page like any other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from terrain.rules.hosts import HostPattern
from terrain.rules.linkrules import Action, Rule

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

DEFAULT_SKIPS: Final[dict[str, tuple[str, ...]]] = {
    "Advertising": (
        "*.doubleclick.net",
        "*.googleadservices.com",
        "*.googlesyndication.com",
        "adservice.google.com",
        "google.com/aclk?*",
        "google.com/url?*adurl=*",
        "*.2mdn.net",
        "*.adform.net",
        "*.adnxs.com",
        "*.adsrvr.org",
        "*.advertising.com",
        "*.amazon-adsystem.com",
        "*.atdmt.com",
        "*.bidswitch.net",
        "*.buysellads.com/ads/*",
        "*.casalemedia.com",
        "*.criteo.net",
        "cas.criteo.com",
        "cat.criteo.com",
        "*.exoclick.com",
        "*.mediaplex.com",
        "*.openx.net",
        "*.popads.net",
        "*.propellerads.com/afu.php*",
        "*.pubmatic.com/AdServer/*",
        "*.revcontent.com/click.php*",
        "*.rubiconproject.com/*click*",
        "*.serving-sys.com",
        "*.smartadserver.com",
        "*.yieldmanager.com",
        "*.zedo.com",
        "paid.outbrain.com",
        "trc.taboola.com",
        "*.awin1.com",
        "*.anrdoezrs.net",
        "*.dpbolvw.net",
        "*.jdoqocy.com",
        "*.kqzyfj.com",
        "*.tkqlhce.com",
        "click.linksynergy.com",
        "*.shareasale.com/r.cfm*",
        "*.shareasale.com/u.cfm*",
        "*.tradedoubler.com/click*",
        "*.zanox.com/ppc/*",
    ),
    "Analytics and counters": (
        "*.google-analytics.com",
        "*.googletagmanager.com",
        "*.2o7.net",
        "*.omtrdc.net",
        "*.demdex.net",
        "*.scorecardresearch.com",
        "*.quantserve.com",
        "*.hitbox.com",
        "*.imrworldwide.com",
        "*.histats.com",
        "*.hitwebcounter.com",
        "*.sitemeter.com",
        "*.statcounter.com",
        "*.extremetracking.com",
        "*.freecounterstat.com",
        "*.flagcounter.com",
        "*.clustrmaps.com",
        "*.revolvermaps.com",
        "*.xiti.com",
        "counter.yadro.ru",
        "liveinternet.ru/click*",
        "liveinternet.ru/stat/*",
        "mc.yandex.ru",
        "metrika.yandex.ru/stat/*",
        "top.mail.ru/jump*",
        "top100.rambler.ru",
        "*.list-manage.com/track/*",
    ),
    "Sharing and submitting": (
        "*.facebook.com/sharer*",
        "*.facebook.com/share.php*",
        "*.facebook.com/dialog/*",
        "*.facebook.com/plugins/*",
        "*.twitter.com/share*",
        "*.twitter.com/intent/*",
        "twitter.com/home?status=*",
        "x.com/share*",
        "x.com/intent/*",
        "bsky.app/intent/*",
        "threads.net/intent/*",
        "*.linkedin.com/shareArticle*",
        "*.linkedin.com/sharing/*",
        "*.linkedin.com/cws/share*",
        "*.pinterest.com/pin/create/*",
        "*.reddit.com/submit*",
        "*.tumblr.com/share*",
        "*.tumblr.com/widgets/share/*",
        "t.me/share/*",
        "telegram.me/share/*",
        "api.whatsapp.com/send*",
        "web.whatsapp.com/send*",
        "wa.me/?text=*",
        "line.me/R/msg/*",
        "social-plugins.line.me",
        "vk.com/share.php*",
        "connect.ok.ru/offer*",
        "service.weibo.com/share/*",
        "*.xing.com/spi/shares/*",
        "*.xing.com/app/user?op=share*",
        "plus.google.com/share*",
        "news.ycombinator.com/submitlink*",
        "*.digg.com/submit*",
        "del.icio.us/post*",
        "*.delicious.com/save*",
        "*.delicious.com/post*",
        "*.stumbleupon.com/submit*",
        "*.slashdot.org/bookmark.pl*",
        "getpocket.com/save*",
        "getpocket.com/edit*",
        "*.instapaper.com/hello2*",
        "*.evernote.com/clip.action*",
        "*.blogger.com/blog-this.g*",
        "*.blogger.com/blog_this.pyra*",
        "share.flipboard.com",
        "buffer.com/add*",
        "bufferapp.com/add*",
        "b.hatena.ne.jp/add*",
        "*.addthis.com/bookmark.php*",
        "*.addtoany.com/add_to/*",
        "*.addtoany.com/share*",
        "*.sharethis.com/share*",
        "*.shareaholic.com/share*",
        # Links that a plug-in of WordPress puts below every post.
        "re:[?&]share=(?:bluesky|email|facebook|jetpack-whatsapp|linkedin|mastodon|pinterest)(?:&|$)",
        "re:[?&]share=(?:pocket|print|reddit|skype|telegram|threads|tumblr|twitter|x)(?:&|$)",
    ),
}
"""Patterns by what they are about, in the order in which the documentation lists them."""

DEFAULT_RULES: Final = tuple(
    Rule(pattern, Action.SKIP) for patterns in DEFAULT_SKIPS.values() for pattern in patterns
)
"""The same as rules."""


def exempt(listed: Iterable[str]) -> list[Rule]:
    """Return what keeps the default set away from hosts that the user's own lists are about.

    They are to be counted, as the lists say. Of a long list only the few that meet a default
    pattern are returned.
    """
    hosts = {host for host, *_ in (rule.match.partition("/") for rule in DEFAULT_RULES)}
    named = {host.removeprefix("*.") for host in hosts if not host.startswith("re:")}
    found = []
    for pattern in map(HostPattern.parse, listed):
        below_one = any(domain in named for domain in _with_domains_above(pattern.host))
        above_one = pattern.below is not None and any(
            host.endswith(f".{pattern.below}") for host in named
        )
        if below_one or above_one:
            found.append(Rule(pattern.text, Action.CRAWL))
    return found


def _with_domains_above(host: str) -> Iterator[str]:
    while host:
        yield host
        host = host.partition(".")[2]
