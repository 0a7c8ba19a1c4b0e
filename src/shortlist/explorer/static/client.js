// Requests to the server. Each has a number, so that outdated answers can be dropped.

import { store } from "./store.js";

let number = 0;

class UserError extends Error {} // a sentence for the person
export class Superseded extends Error {}

/** What to tell the person about an error. */
export function sentenceOf(error, unexpected = "Something went wrong; reload the page.") {
  if (error instanceof UserError) return error.message;
  console.error(error);
  return unexpected;
}

async function send(path, body, headers, signal) {
  let response;
  try {
    response = await fetch(`api/${path}`, {
      method: "POST",
      body,
      signal,
      headers: { "X-Session": store.session ?? "", ...headers },
    });
  } catch (error) {
    if (error.name === "AbortError") throw new Superseded();
    throw new UserError("The explorer is not responding. Is it still running in the terminal?");
  }
  if (response.ok) return response;
  const answer = await response.json().catch(() => ({}));
  if (answer.superseded) throw new Superseded();
  throw new UserError(answer.error ?? "The explorer refused this request.");
}

const JSON_TYPE = { "Content-Type": "application/json" };

export async function post(path, body) {
  return (await send(path, JSON.stringify(body), JSON_TYPE)).json();
}

export async function sendFile(path, file) {
  const headers = { "Content-Type": "application/octet-stream", "X-File-Name": encodeURIComponent(file.name) };
  return (await send(path, file, headers)).json();
}

const question = (extra) => JSON.stringify({ number: ++number, state: store.state, ...extra });

export async function ask(topic, extra, signal) {
  return (await send(topic, question(extra), JSON_TYPE, signal)).json();
}

/** End what is asked about a topic on the server; nothing is lost if this comes too late. */
export async function cancel(topic, extra) {
  await ask(`cancel/${topic}`, extra).catch(() => {});
}

export async function download(what) {
  return (await send(`save/${what}`, question({}), JSON_TYPE)).blob();
}

/** Call `take` with each line of JSON as it comes. */
export async function follow(topic, take, signal) {
  const response = await send(topic, question({}), JSON_TYPE, signal);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const lines = (rest + value).split("\n");
      rest = lines.pop();
      for (const line of lines) {
        const answer = JSON.parse(line);
        if (answer.error) throw new UserError(answer.error);
        take(answer);
      }
    }
  } catch (error) {
    if (error instanceof UserError) throw error;
    if (error.name === "AbortError") throw new Superseded();
    throw new UserError("The explorer stopped responding. Is it still running in the terminal?");
  }
}
