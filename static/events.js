// The reader's own work as it advances. Comfort only: the page shows the state at load, and while nothing is
// streamed it asks again by itself. `data-live` is where, `data-events` the stream, if the server has any.
// A row whose words only the server has says in `data-task-status` which state they are for.

const ASK_SECONDS = 10; // while nothing is streamed
const ASK_ANYWAY_SECONDS = 60; // also while something is: an event may get lost
const SETTLING_SECONDS = 120; // after own work ended: the fleet's follows it, of which nobody tells
const SPACING_SECONDS = 2; // between two questions, however much happens
const SILENCE_SECONDS = 45; // three beats of the server
const REOPEN_SECONDS = 60; // after a refusal: the server is full
const ENDED = ["done", "failed", "cancelled"];

const section = document.querySelector("[data-live]");
let source = null;
let isLive = false; // the server promised to tell of every change
let heardAt = 0;
let askedAt = Date.now();
let endedAt = 0;
let asking = null;
let reopening = null;

const seconds = (since) => (Date.now() - since) / 1000;

function show(element, said) {
  const part = (name) => element.querySelector(`[data-task-${name}]`);
  const { done, total, note } = said.progress ?? {};
  if (part("state")) part("state").textContent = said.status;
  if (part("error")) part("error").textContent = said.error;
  if (part("count")) part("count").textContent = total ? `${done} of ${total}` : "";
  if (part("said")) part("said").textContent = `${done ?? ""}${total ? ` of ${total}` : ""} ${note ?? ""}`.trim();
  const bar = part("progress");
  if (bar && total) [bar.max, bar.value] = [total, done];
  else bar?.removeAttribute("value"); // under way, nobody knows how far
}

function told(said) {
  const shown = [...document.querySelectorAll("[data-task-id], [data-task-subject]")];
  const own = shown.filter(({ dataset }) =>
    dataset.taskId ? dataset.taskId === String(said.id) : dataset.taskSubject === said.subject);
  for (const element of own) show(element, said);
  const isPart = shown.some(({ dataset }) => dataset.taskSubject === said.subject);
  const isForeign = "everybody" in section.dataset && said.subject !== section.dataset.subject;
  const hasEnded = own.length > 0 && ENDED.includes(said.status);
  const hasTurned = own.some(({ dataset }) => "taskStatus" in dataset && dataset.taskStatus !== said.status);
  if (hasEnded) endedAt = Date.now();
  // Work that begins or ends changes the list, which only the server knows.
  if (hasEnded || hasTurned || (!own.length && !isPart && !isForeign)) askSoon(0);
}

function changed() {
  if ("reload" in section.dataset) location.reload();
  const notice = document.querySelector("[data-live-changed]");
  if (notice) notice.hidden = false;
}

// Whoever is on a row's button with the keyboard stays on it.
function replace(fresh) {
  const row = document.activeElement?.closest("[data-live] [data-task-id]")?.dataset.taskId;
  section.replaceChildren(...fresh.childNodes);
  if (row) section.querySelector(`[data-task-id="${row}"] button`)?.focus({ preventScroll: true });
}

async function ask() {
  asking = null;
  askedAt = Date.now();
  try {
    const answer = await fetch(section.dataset.live, { cache: "no-store" });
    if (answer.redirected) return stop(); // to the login page
    if (!answer.ok) return askSoon(ASK_SECONDS);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const fresh = page.querySelector("[data-live]");
    replace(fresh);
    if (fresh.dataset.version !== section.dataset.version) changed();
    section.dataset.version = fresh.dataset.version;
  } catch {
    askSoon(ASK_SECONDS); // the server is away
  }
}

function askSoon(inSeconds) {
  const wait = Math.max(inSeconds, SPACING_SECONDS - seconds(askedAt), 0);
  asking ??= setTimeout(ask, wait * 1000);
}

function open() {
  clearTimeout(reopening);
  if (source || document.hidden || !section.dataset.events) return;
  heardAt = Date.now();
  source = new EventSource(section.dataset.events);
  source.onmessage = ({ data }) => {
    const said = JSON.parse(data);
    heardAt = Date.now();
    if (said.type === "task") told(said);
    if (said.type === "lost") isLive = false;
    if (said.type === "resync") {
      isLive = true;
      askSoon(Math.random()); // everybody is told at once
    }
  };
  source.onerror = () => {
    isLive = false;
    if (source.readyState === EventSource.CLOSED) close(REOPEN_SECONDS);
  };
}

function close(reopenInSeconds) {
  source?.close();
  source = null;
  isLive = false;
  clearTimeout(reopening);
  if (reopenInSeconds) reopening = setTimeout(open, reopenInSeconds * 1000 * (0.5 + Math.random()));
}

function look() {
  if (document.hidden) return;
  if (source && seconds(heardAt) > SILENCE_SECONDS) {
    close(0);
    open();
  }
  const isSettled = isLive && seconds(endedAt) > SETTLING_SECONDS;
  if (seconds(askedAt) > (isSettled ? ASK_ANYWAY_SECONDS : ASK_SECONDS)) askSoon(0);
}

// A browser opens six connections to a host over HTTP/1.1: tabs that nobody sees give theirs back.
function follow() {
  if (document.hidden) close(0);
  else open();
  look();
}

let looking = null;

function stop() {
  close(0);
  clearInterval(looking);
  document.removeEventListener("visibilitychange", follow);
}

if (section) {
  looking = setInterval(look, 1000);
  document.addEventListener("visibilitychange", follow);
  open();
}
