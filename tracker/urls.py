from __future__ import annotations

from django.contrib.auth.views import LoginView, LogoutView
from django.urls import path

from tracker import views

app_name = "tracker"
urlpatterns = [
    path("login/", LoginView.as_view(redirect_authenticated_user=True), name="login"),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("board/", views.board, name="board"),
    path("board/work/", views.work, name="work"),
    path("jobs/<int:posting_id>/", views.posting, name="posting"),
    path("jobs/<int:posting_id>/texts/", views.texts, name="texts"),
]
