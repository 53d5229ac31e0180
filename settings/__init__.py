"""Scrapy settings modules, named in scrapy.cfg."""
