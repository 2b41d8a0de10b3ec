"""Programs and layouts as pictures: pure functions to SVG and HTML, and a server for a browser.

Needs neither torch nor a network: what is served is one page that asks for nothing else.
"""

from tilefoundry.viewer.dataflow import function_svg
from tilefoundry.viewer.layout_picture import layout_svg
from tilefoundry.viewer.page import page
from tilefoundry.viewer.serving import View, view

__all__ = ["View", "function_svg", "layout_svg", "page", "view"]
