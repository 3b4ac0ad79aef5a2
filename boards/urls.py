from __future__ import annotations

from django.urls import path

from boards import views

app_name = "boards"
urlpatterns = [
    path("", views.index, name="index"),
    path("b/<slug:slug>/", views.board, name="board"),
    path("b/<slug:slug>/jobs/<int:posting_id>/", views.posting, name="posting"),
]
