import { EventEmitter } from "node:events";
import type { WriteStream } from "node:tty";
import { expect, test } from "vitest";
import { Screen } from "./screen.ts";

class FakeTerminal extends EventEmitter {
  columns = 20;
  rows = 3;
  written = "";

  write(text: string): boolean {
    this.written += text;
    return true;
  }
}

function open(resized = (): void => undefined): { terminal: FakeTerminal; screen: Screen } {
  const terminal = new FakeTerminal();
  return { terminal, screen: new Screen(terminal as unknown as WriteStream, resized) };
}

test("hides cursor and wrapping while it is open, and gives both back once", () => {
  const { terminal, screen } = open();
  expect(terminal.written).toContain("\u001B[?1049h\u001B[?25l\u001B[?7l");
  terminal.written = "";
  screen.close();
  screen.close();
  screen.show(["too late"]);
  expect(terminal.written).toBe("\u001B[?7h\u001B[?25h\u001B[?1049l");
});

test("draws no more lines than there are rows, each over the last one", () => {
  const { terminal, screen } = open();
  terminal.written = "";
  screen.show(["one", "two", "three", "four"]);
  screen.close();
  expect(terminal.written).toContain("\u001B[Hone\u001B[K\r\ntwo\u001B[K\r\nthree\u001B[K\u001B[J");
  expect(terminal.written).not.toContain("four");
});

test("asks for a new picture when the terminal's size has changed, and listens to nothing once closed", () => {
  let asked = 0;
  const before = process.listenerCount("exit");
  const { terminal, screen } = open(() => asked++);
  terminal.emit("resize");
  expect(asked).toBe(1);
  screen.close();
  terminal.emit("resize");
  expect(asked).toBe(1);
  expect(process.listenerCount("exit")).toBe(before);
});
