from __future__ import annotations

from django.urls import path

from taskqueue import views

app_name = "queue"
urlpatterns = [
    path("tasks/", views.tasks, name="tasks"),
    path("tasks/<int:task_id>/cancel/", views.cancel, name="cancel"),
    path("tasks/<int:task_id>/restart/", views.restart, name="restart"),
    path("metrics", views.metrics, name="metrics"),
]
