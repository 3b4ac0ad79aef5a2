// Comfort only: every page reads and acts without this file.
"use strict";

const THEME = "rolecall-theme";
const root = document.documentElement;

// Storage is refused where a browser blocks it: the page then simply does not remember.
function remembered(store, name) {
  try { return window[store].getItem(name); } catch { return null; }
}

function remember(store, name, value) {
  try {
    if (value === null) window[store].removeItem(name);
    else window[store].setItem(name, value);
  } catch { /* nothing depends on it */ }
}

// Before the first paint, so that a chosen theme never flashes the other one.
const chosen = remembered("localStorage", THEME);
if (chosen === "light" || chosen === "dark") root.dataset.theme = chosen;

function setUpTheme() {
  const themes = ["system", "light", "dark"];
  const button = document.querySelector("[data-theme-switch]");
  if (!button) return;
  const name = button.querySelector("[data-theme-name]");
  const current = () => root.dataset.theme || "system";
  name.textContent = current();
  button.hidden = false;
  button.addEventListener("click", () => {
    const next = themes[(themes.indexOf(current()) + 1) % themes.length];
    if (next === "system") delete root.dataset.theme;
    else root.dataset.theme = next;
    remember("localStorage", THEME, next === "system" ? null : next);
    name.textContent = next;
  });
}

// The words of boards/templatetags/rolecall.py, renewed on pages that stay open, in the reader's zone.
function daysSpan(days) {
  if (days < 60) return `${days} d`;
  return days < 730 ? `${Math.floor(days / 30)} mo` : `${Math.floor(days / 365)} y`;
}

function instantWords(milliseconds) {
  const minutes = Math.floor(Math.abs(milliseconds) / 60000);
  if (minutes === 0) return "just now";
  let span = daysSpan(Math.floor(minutes / 1440));
  if (minutes < 60) span = `${minutes} min`;
  else if (minutes < 1440) span = `${Math.floor(minutes / 60)} h`;
  return milliseconds > 0 ? `${span} ago` : `in ${span}`;
}

function dayWords(text, now) {
  const [year, month, day] = text.split("-").map(Number);
  const today = Date.UTC(now.getFullYear(), now.getMonth(), now.getDate());
  const days = Math.round((today - Date.UTC(year, month - 1, day)) / 86400000);
  const near = { "0": "today", "1": "yesterday", "-1": "tomorrow" }[days];
  if (near) return near;
  return days > 0 ? `${daysSpan(days)} ago` : `in ${daysSpan(-days)}`;
}

function renewTimes() {
  const now = new Date();
  for (const time of document.querySelectorAll("time[datetime]")) {
    const isDay = time.dateTime.length === 10;
    const words = isDay ? dayWords(time.dateTime, now) : instantWords(now - new Date(time.dateTime));
    if (time.textContent !== words) time.textContent = words;
  }
}

function setUpTimes() {
  const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "long", timeStyle: "long" });
  for (const time of document.querySelectorAll("time[datetime*='T']")) {
    time.title = exact.format(new Date(time.dateTime));
  }
  renewTimes();
  setInterval(() => { if (!document.hidden) renewTimes(); }, 60000);
  document.addEventListener("htmx:afterSettle", renewTimes);
  document.addEventListener("visibilitychange", () => { if (!document.hidden) renewTimes(); });
}

function setUpMessages() {
  for (const button of document.querySelectorAll("[data-dismiss]")) {
    button.hidden = false;
    button.addEventListener("click", () => button.closest(".message").remove());
  }
}

// Menus close on Escape, giving the focus back, and on a press elsewhere.
function setUpMenus() {
  const open = () => document.querySelectorAll(".menu[open], .account[open], .facets[open]");
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    for (const details of open()) {
      const hadFocus = details.contains(document.activeElement);
      details.open = false;
      if (hadFocus) details.querySelector("summary").focus();
    }
  });
  document.addEventListener("pointerdown", (event) => {
    for (const details of open()) if (!details.contains(event.target)) details.open = false;
  });
}

// A choice in the filter sheet loads its results; the sheet is then open again for the next choice.
function setUpSheet() {
  const sheet = document.querySelector(".facets");
  const key = "rolecall-sheet";
  if (sheet && remembered("sessionStorage", key) === location.pathname) sheet.open = true;
  remember("sessionStorage", key, null);
  document.addEventListener("click", (event) => {
    if (event.target.closest(".facets[open] a")) remember("sessionStorage", key, location.pathname);
  });
}

// A busy server's page holds what was sent and sends it again, once; the next busy page does the same.
function setUpRetry() {
  const form = document.querySelector("form[data-retry]");
  if (form) setTimeout(() => form.submit(), Number(form.dataset.retry) * 1000);
}

document.addEventListener("DOMContentLoaded", () => {
  for (const setUp of [setUpTheme, setUpTimes, setUpMessages, setUpMenus, setUpSheet, setUpRetry]) setUp();
});
