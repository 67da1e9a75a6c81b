/** The OpenAPI document of all plug-ins' operations, made from their schemas once, when the gateway starts. */
import { pathsOf, type AnyRoute, type Api } from "@keelson/runtime";
import { z } from "zod";
import { PROBLEMS } from "../problem.ts";

type Json = Record<string, unknown>;

const ERROR_SCHEMA: Json = {
  type: "object",
  required: ["error"],
  properties: {
    error: {
      type: "object",
      required: ["code", "message"],
      properties: {
        code: { type: "string", enum: Object.keys(PROBLEMS), description: "or a code of the service" },
        message: { type: "string" },
        requestId: { type: "string" },
        reason: { type: "string" },
        issues: { type: "array", items: { type: "object" } },
      },
    },
  },
};

export function openApiDocument(plugins: readonly Api[], version: string): Json {
  const paths: Record<string, Json> = {};
  for (const plugin of plugins)
    for (const [name, route] of Object.entries(plugin.http ?? {}))
      for (const path of pathsOf(plugin.name, route)) {
        const shown = path.replace(/\*\}/g, "}");
        (paths[shown] ??= {})[route.verb.toLowerCase()] = operation(plugin, name, route);
      }
  return {
    openapi: "3.1.0",
    info: { title: "Keelson", version, description: "The services of this fleet, through its gateway." },
    tags: plugins.map(({ name, about }) => ({ name, description: about })),
    paths,
    components: {
      securitySchemes: { token: { type: "http", scheme: "bearer" } },
      schemas: { Error: ERROR_SCHEMA },
    },
    security: [{ token: [] }],
  };
}

function operation(plugin: Api, name: string, route: AnyRoute): Json {
  const streams = route.to.kind === "stream";
  const answer = { schema: jsonSchema(route.answer, "output") };
  const statuses = Object.entries(plugin.errors ?? {}).map(([code, { status, about }]) => ({
    code,
    status,
    about,
  }));
  return {
    operationId: `${plugin.name}.${name}`,
    tags: [plugin.name],
    summary: route.summary,
    ...(route.description === undefined ? {} : { description: route.description }),
    "x-scope": route.scope,
    parameters: [...parameters("path", route.params), ...parameters("query", route.query)],
    ...(route.body
      ? {
          requestBody: {
            required: true,
            content: { "application/json": { schema: jsonSchema(route.body, "input") } },
          },
        }
      : {}),
    responses: {
      200: {
        description: streams ? "items, as they come" : "the answer",
        content: streams
          ? { "text/event-stream": answer, "application/x-ndjson": answer }
          : { "application/json": answer },
      },
      ...Object.fromEntries(
        statuses.map(({ status }) => [
          status,
          {
            description: statuses
              .filter((each) => each.status === status)
              .map(({ code, about }) => `${code}: ${about}`)
              .join("; "),
            content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
          },
        ]),
      ),
      default: {
        description: "any other failure",
        content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
      },
    },
  };
}

function parameters(where: "path" | "query", schema: z.ZodType | undefined): Json[] {
  if (!schema) return [];
  const { properties = {}, required = [] } = jsonSchema(schema, "input") as {
    properties?: Record<string, Json>;
    required?: readonly string[];
  };
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: where,
    required: where === "path" || required.includes(name),
    ...(typeof property["description"] === "string" ? { description: property["description"] } : {}),
    schema: property,
  }));
}

function jsonSchema(schema: z.ZodType, io: "input" | "output"): Json {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: "any" });
  return rest;
}
