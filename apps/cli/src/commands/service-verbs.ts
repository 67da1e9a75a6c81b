/** A service's verbs as commands: `keelson counter add 3`. The verb asks the service's API through the gateway; this parses, prints and ends. */
import { Command } from "commander";
import {
  ApiError,
  callApi,
  followApi,
  type AnyPlugin,
  type AnyRoute,
  type Verb,
  type VerbInput,
} from "@keelson/runtime";
import { doorOf, withGateway, type DoorOptions } from "../admin/door.ts";
import { notReached } from "../admin/gateway-door.ts";
import { RunError } from "../failure.ts";
import { Printer } from "../report/printer.ts";
import { exitCodeOf, type StopSignal } from "../stop-signal.ts";

export function serviceCommand(plugin: AnyPlugin): Command {
  const group = new Command(plugin.name);
  for (const [name, verb] of Object.entries(plugin.verbs ?? {}))
    group.addCommand(verbCommand(plugin, name, verb));
  if (Object.keys(plugin.verbs ?? {}).length === 0)
    group.action(() => {
      throw new RunError(`the service ${plugin.name} has no verbs: its API is at /docs of the gateway`);
    });
  return group;
}

function verbCommand(plugin: AnyPlugin, name: string, verb: Verb): Command {
  const command = new Command(name).description(verb.about);
  for (const argument of verb.arguments ?? []) command.argument(argument.name, argument.about);
  for (const { flags, about, value } of verb.options ?? [])
    if (value === undefined) command.option(flags, about);
    else command.option(flags, about, value);
  withGateway(command);
  return command.action(async () => {
    const options = command.opts<DoorOptions & Record<string, unknown>>();
    const { url } = doorOf(options);
    const leave = new AbortController();
    const stop = (signal: StopSignal): void => {
      // A script that runs verbs one after another must not take what was broken off for done.
      process.exitCode = exitCodeOf(signal);
      leave.abort();
    };
    process.once("SIGINT", stop);
    process.once("SIGTERM", stop);
    const api = { url, token: options.token, signal: leave.signal };
    try {
      await verb.run({
        args: command.processedArgs.flatMap(textsOf),
        options,
        api: (route, input = {}) => reached(api, callApi(plugin.name, routeOf(plugin, route), input, api)),
        follow: (route, input: VerbInput = {}) =>
          followed(api, followApi(plugin.name, routeOf(plugin, route), input, api)),
        print: new Printer(options.json === true),
        signal: leave.signal,
        gateway: { url, token: options.token },
      });
    } catch (error) {
      // Ctrl-C is how one leaves what goes on for ever.
      if (!leave.signal.aborted) throw error;
    } finally {
      process.off("SIGINT", stop);
      process.off("SIGTERM", stop);
    }
  });
}

/** Arguments that were left out are not there; one that takes all that follow is as many as there are. */
function textsOf(value: string | readonly string[] | undefined): readonly string[] {
  return value === undefined ? [] : typeof value === "string" ? [value] : value;
}

function routeOf(plugin: AnyPlugin, name: string): AnyRoute {
  const route = plugin.http?.[name];
  if (!route) throw new RunError(`the service ${plugin.name} has no route ${name}`);
  return route;
}

interface Door {
  readonly url: string;
  readonly token?: string | undefined;
}

async function reached<T>(door: Door, answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    throw forPeople(door, error);
  }
}

async function* followed(door: Door, items: AsyncIterable<unknown>): AsyncGenerator<unknown> {
  try {
    yield* items;
  } catch (error) {
    throw forPeople(door, error);
  }
}

/** What fetch throws is not, nor is a header what they would send. */
function forPeople({ url, token }: Door, error: unknown): unknown {
  if (error instanceof ApiError && error.code === "UNAUTHORISED" && token === undefined)
    return new RunError("the gateway asks for a token: give it with KEELSON_TOKEN or --token");
  return error instanceof TypeError ? notReached(url, error) : error;
}
