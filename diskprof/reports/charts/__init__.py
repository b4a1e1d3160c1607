"""What a chart shows, and its drawing as SVG."""
