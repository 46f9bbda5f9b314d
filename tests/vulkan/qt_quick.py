"""A window of Qt Quick whose scene graph is on Vulkan, grabbed and kept as a picture: qt_quick.py FILE.png. Gradients, text, clips,
layers, a shape of curves, an image that a canvas drew."""

import os
import sys
from pathlib import Path

os.environ["QSG_INFO"] = "1"
os.environ["QT_LOGGING_RULES"] = "qt.scenegraph.general=true;qt.rhi.general=true"
from PySide6.QtCore import QTimer, QUrl
from PySide6.QtGui import QGuiApplication
from PySide6.QtQuick import QQuickView, QQuickWindow, QSGRendererInterface

SCENE = """
import QtQuick
import QtQuick.Shapes
Rectangle {
  width: 400; height: 300
  gradient: Gradient { GradientStop { position: 0; color: "#224466" } GradientStop { position: 1; color: "#88aacc" } }
  Text { x: 20; y: 14; text: "Qt Quick on Vulkan"; font.pixelSize: 28; color: "white"; style: Text.Raised; styleColor: "#234" }
  Repeater {
    model: 12
    Rectangle {
      x: 40 + 25 * index; y: 80 + 10 * Math.sin(index); width: 60; height: 60; radius: index * 2.5; rotation: index * 11
      color: Qt.hsla(index / 12, 0.7, 0.5, 0.7); border.width: 2; antialiasing: true
    }
  }
  Item { x: 20; y: 170; width: 100; height: 60; clip: true
    Rectangle { x: -30; y: -30; width: 90; height: 90; rotation: 30; color: "orange" } }
  Item { x: 140; y: 170; width: 100; height: 60; opacity: 0.6; layer.enabled: true
    Rectangle { width: 60; height: 60; color: "red" } Rectangle { x: 30; width: 60; height: 60; color: "blue" } }
  Shape { x: 260; y: 170; width: 100; height: 60
    ShapePath { strokeColor: "white"; strokeWidth: 3; fillColor: "#60a030"; startX: 0; startY: 60
      PathCubic { control1X: 20; control1Y: -40; control2X: 80; control2Y: 100; x: 100; y: 0 } PathLine { x: 100; y: 60 } } }
  Canvas { x: 20; y: 240; width: 360; height: 50; onPaint: { var c = getContext("2d"); c.strokeStyle = "#fff"; c.beginPath();
    for (var i = 0; i < 360; i += 4) c.lineTo(i, 25 + 20 * Math.sin(i / 20)); c.stroke(); } }
}
"""
folder = Path(sys.argv[1]).parent
(folder / "scene.qml").write_text(SCENE)
QQuickWindow.setGraphicsApi(QSGRendererInterface.GraphicsApi.Vulkan)
app = QGuiApplication([])
view = QQuickView()
view.setSource(QUrl.fromLocalFile(str(folder / "scene.qml")))
assert not view.errors(), view.errors()
view.show()
shots = []


def grab() -> None:
    """The picture, once two in a row are equal: the window is there, and its images are loaded."""
    picture = view.grabWindow()
    if shots and picture == shots[-1]:
        assert view.rendererInterface().graphicsApi() == QSGRendererInterface.GraphicsApi.Vulkan
        picture.save(sys.argv[1])
        app.quit()
    shots.append(picture)


timer = QTimer()
timer.timeout.connect(grab)
timer.start(400)
sys.exit(app.exec())
