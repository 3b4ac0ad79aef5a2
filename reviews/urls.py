from __future__ import annotations

from django.urls import path

from reviews import views

app_name = "reviews"
urlpatterns = [
    path("filters/", views.filters, name="filters"),
    path("filters/new/", views.new_filter, name="new"),
    path("filters/<int:filter_id>/", views.edit_filter, name="filter"),
]
