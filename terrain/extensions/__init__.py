"""What runs beside the crawl."""
