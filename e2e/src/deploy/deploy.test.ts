/** Every file of deploy/ is what its reader expects: manifests, units, rules, dashboard; and what they say of Keelson is what Keelson has. */
import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { GATEWAY_ALERTS } from "@keelson/gateway";
import { NODE_ALERTS, type AlertRule } from "@keelson/runtime";
import { ensureServers, requireProgram } from "@keelson/testkit/servers";
import { SERVICES, loadConfig } from "keelson";
import { stringify } from "yaml";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { DEPLOY, commandProblems, documentsOf, filesIn, textOf, yamlOf } from "./files.ts";
import { manifestSchema, type Manifest } from "./kubernetes-schema.ts";
import { exportedSeries, metricsIn } from "./metric-names.ts";

let folder: string;
let promtool: string;
let series: Set<string>;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "keelson-deploy-"));
  await ensureServers(["promtool", "systemd"]);
  promtool = requireProgram("promtool", "promtool");
  series = await exportedSeries();
}, 300_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const notExported = (expr: string): string[] => metricsIn(expr).filter((name) => !series.has(name));

const MANIFESTS = filesIn("kubernetes").filter((name) => name !== "kustomization.yaml");

function manifests(): Manifest[] {
  return MANIFESTS.flatMap((name) => documentsOf(`kubernetes/${name}`)).map((each) =>
    manifestSchema.parse(each),
  );
}

test.each(MANIFESTS)("kubernetes/%s is what Kubernetes and KEDA take", (name) => {
  for (const each of documentsOf(`kubernetes/${name}`)) {
    const checked = manifestSchema.safeParse(each);
    expect(checked.success ? "" : z.prettifyError(checked.error)).toBe("");
  }
});

test("the schema notices a field that is misspelt", () => {
  const [, set] = documentsOf("kubernetes/nodes.yaml") as { spec: Record<string, unknown> }[];
  expect(manifestSchema.safeParse(set).success).toBe(true);
  expect(manifestSchema.safeParse({ ...set, spec: { ...set!.spec, replicaCount: 3 } }).success).toBe(false);
});

test("kustomization.yaml names every manifest, and the README every secret that they need", () => {
  expect((yamlOf("kubernetes/kustomization.yaml") as { resources: string[] }).resources.toSorted()).toEqual(
    MANIFESTS,
  );
  const all = MANIFESTS.map((name) => textOf(`kubernetes/${name}`)).join("\n");
  const secrets = [
    ...all.matchAll(/(?:secretName|secretKeyRef: \{ name|secretRef: \{ name): ([a-z-]+)/g),
  ].map(([, name]) => name!);
  expect(new Set(secrets).size).toBe(4);
  for (const name of secrets) expect(textOf("README.md")).toContain(`\`${name}\``);
});

test("pods mount what there is, probe ports that they have, start what there is, and are given time to drain", async () => {
  const sets = manifests().filter((each) => each.kind === "StatefulSet" || each.kind === "Deployment");
  expect(sets).toHaveLength(2);
  for (const { kind, spec } of sets) {
    const [container] = spec.template.spec.containers;
    const claims =
      "volumeClaimTemplates" in spec ? spec.volumeClaimTemplates.map(({ metadata }) => metadata.name) : [];
    const volumes = [...spec.template.spec.volumes.map(({ name }) => name), ...claims].sort();
    expect(container!.volumeMounts.map(({ name }) => name).sort()).toEqual(volumes);
    const ports = container!.ports.map(({ name }) => name);
    for (const probe of [container!.startupProbe, container!.livenessProbe, container!.readinessProbe])
      expect(ports).toContain(probe.httpGet.port);
    expect(container!.readinessProbe.httpGet.path).toBe("/readyz");
    expect(container!.livenessProbe.httpGet.path).toBe("/healthz");
    expect(await commandProblems(container!.args)).toEqual([]);
    expect(spec.selector.matchLabels).toEqual(spec.template.metadata.labels);
    // Longer than a node waits for others to get ready, and than a gateway for its preStop and its requests.
    expect(spec.template.spec.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(
      kind === "StatefulSet" ? 60 : 20,
    );
  }
  for (const each of manifests()) {
    const selected =
      each.kind === "Service"
        ? each.spec.selector
        : each.kind === "PodDisruptionBudget"
          ? each.spec.selector.matchLabels
          : undefined;
    const found = sets.some(
      ({ spec }) => JSON.stringify(spec.selector.matchLabels) === JSON.stringify(selected),
    );
    expect([each.metadata.name, selected === undefined || found]).toEqual([each.metadata.name, true]);
  }
});

test("the settings of config.yaml are settings of nodes and gateways", () => {
  const [map] = documentsOf("kubernetes/config.yaml") as { data: Record<string, string> }[];
  const file = join(folder, "keelson.toml");
  writeFileSync(file, map!.data["keelson.toml"]!);
  const environment = {
    KEELSON_STORE: "etcd://etcd:2379",
    AWS_ACCESS_KEY_ID: "a",
    AWS_SECRET_ACCESS_KEY: "b",
  };
  const node = loadConfig("node", { file, environment, flags: { id: "a", address: "a:7401" } }).config;
  expect(node["tls-name"]).toBe("keelson.fleet");
  const gateway = loadConfig("gateway", { file, environment, flags: {} }).config;
  expect([gateway["admin-listen"], gateway["node-tls-ca"]]).toEqual(["0.0.0.0:7601", "/tls/ca.crt"]);
});

test("what scales the nodes is the signal that the fleet exports, and scales what there is", () => {
  const all = manifests();
  const scaled = all.find((each) => each.kind === "ScaledObject");
  const [trigger] = scaled!.spec.triggers;
  expect(metricsIn(trigger!.metadata.query)).toContain("code_scale_wish");
  expect(notExported(trigger!.metadata.query)).toEqual([]);
  const targets = all.flatMap((each) =>
    each.kind === "ScaledObject" || each.kind === "HorizontalPodAutoscaler" ? [each.spec.scaleTargetRef] : [],
  );
  expect(targets).toHaveLength(2);
  for (const { kind, name } of targets)
    expect(all.some((other) => other.kind === kind && other.metadata.name === name)).toBe(true);
});

const composeSchema = z.strictObject({
  name: z.string(),
  "x-node": z.unknown(),
  services: z.record(
    z.string(),
    z.strictObject({
      image: z.string(),
      restart: z.enum(["unless-stopped", "always"]),
      init: z.boolean().optional(),
      command: z.array(z.string()).optional(),
      environment: z.record(z.string(), z.string()).optional(),
      depends_on: z
        .union([z.array(z.string()), z.record(z.string(), z.strictObject({ condition: z.string() }))])
        .optional(),
      ports: z.array(z.string().regex(/^127\.0\.0\.1:\d+:\d+$/)).optional(),
      volumes: z.array(z.string()).optional(),
      stop_grace_period: z.string().optional(),
      healthcheck: z
        .strictObject({
          test: z.array(z.string()),
          interval: z.string(),
          timeout: z.string(),
          retries: z.int(),
          start_period: z.string().optional(),
        })
        .optional(),
    }),
  ),
  volumes: z.record(z.string(), z.strictObject({})),
});

test("compose.yaml is what compose takes, publishes to this machine only, and starts what there is", async () => {
  const { services, volumes } = composeSchema.parse(yamlOf("compose.yaml"));
  // A volume is whose its place in the image is; one that has none there is root's.
  const [, own = ""] = /chown 10001:10001 (.*)$/m.exec(textOf("Dockerfile")) ?? [];
  for (const [name, service] of Object.entries(services)) {
    const problems = service.image === "keelson" ? await commandProblems(service.command ?? []) : [];
    expect([name, problems]).toEqual([name, []]);
    const needed = Array.isArray(service.depends_on)
      ? service.depends_on
      : Object.keys(service.depends_on ?? {});
    for (const other of needed) expect(Object.keys(services)).toContain(other);
    for (const mount of service.volumes ?? []) {
      const [from = "", to = ""] = mount.split(":");
      const unowned = service.image === "keelson" && !own.split(" ").includes(to);
      expect([mount, unowned]).toEqual([mount, false]);
      expect([mount, from.startsWith(".") ? existsSync(join(DEPLOY, from)) : from in volumes]).toEqual([
        mount,
        true,
      ]);
    }
  }
  expect(textOf("compose.yaml")).not.toMatch(/password: *[a-z0-9]/i);
});

test("the image starts what there is, as nobody in particular", async () => {
  const text = textOf("Dockerfile");
  expect(text).toMatch(/^USER 10001:10001$/m);
  const words = JSON.parse(/^CMD (\[.*\])$/m.exec(text)?.[1] ?? "[]") as string[];
  expect(await commandProblems(words)).toEqual([]);
  expect(text).toContain("/keelson/apps/cli/dist/main.js");
});

const UNITS = filesIn("systemd");

test.each(UNITS)("systemd/%s starts what there is, and gives it time to stop", async (name) => {
  const text = textOf(`systemd/${name}`);
  const [, line = ""] =
    /^ExecStart=\/usr\/bin\/node \/opt\/keelson\/apps\/cli\/dist\/main\.js (.*)$/m.exec(text) ?? [];
  expect(await commandProblems(line.split(" "))).toEqual([]);
  expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(text)?.[1])).toBeGreaterThanOrEqual(
    name.includes("node") ? 60 : 20,
  );
  expect(text).toMatch(/^User=keelson$/m);
});

test("systemd takes the units as they are", () => {
  const place = mkdtempSync(join(folder, "units-"));
  for (const name of UNITS)
    // The program need not be at that place on the machine that tests.
    writeFileSync(join(place, name), textOf(`systemd/${name}`).replaceAll("/usr/bin/node", process.execPath));
  const paths = UNITS.map((name) => join(place, name));
  const said = output(requireProgram("systemd", "systemd-analyze"), ["verify", "--man=no", ...paths]);
  const ours = said.split("\n").filter((line) => line.includes("keelson"));
  expect(ours).toEqual([]);
});

/** What a program says, however it ends: systemd-analyze also speaks of other units of the machine. */
function output(program: string, args: readonly string[]): string {
  try {
    return execFileSync(program, args, { encoding: "utf8", stdio: "pipe" });
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
    return stdout + stderr;
  }
}

async function alertGroups(): Promise<{ name: string; alerts: readonly AlertRule[] }[]> {
  const plugins = await Promise.all(SERVICES.map(({ load }) => load()));
  return [
    { name: "keelson-nodes", alerts: NODE_ALERTS },
    { name: "keelson-gateways", alerts: GATEWAY_ALERTS },
    ...plugins.map(({ name, alerts = [] }) => ({ name: `keelson-${name}`, alerts })),
  ].filter(({ alerts }) => alerts.length > 0);
}

test("prometheus/rules.yaml has every alert that is declared, in Prometheus' words, about metrics that are exported", async () => {
  const groups = (await alertGroups()).map(({ name, alerts }) => ({
    name,
    rules: alerts.map(({ name: alert, expr, for: during, severity, summary }) => ({
      alert,
      expr,
      for: during,
      labels: { severity },
      annotations: { summary },
    })),
  }));
  const head = "# Written from what the code declares: npm run unit -- e2e/src/deploy -u writes it anew.\n";
  await expect(head + stringify({ groups }, { lineWidth: 0 })).toMatchFileSnapshot(
    "../../../deploy/prometheus/rules.yaml",
  );
  for (const { rules } of groups)
    for (const { alert, expr } of rules) expect([alert, notExported(expr)]).toEqual([alert, []]);
  expect(output(promtool, ["check", "rules", join(DEPLOY, "prometheus/rules.yaml")])).toMatch(/SUCCESS/);
});

test("prometheus/prometheus.yaml is what Prometheus takes", () => {
  const place = mkdtempSync(join(folder, "prometheus-"));
  for (const name of ["prometheus.yaml", "rules.yaml"])
    copyFileSync(join(DEPLOY, "prometheus", name), join(place, name));
  writeFileSync(join(place, "gateway-token"), "x");
  const said = output(promtool, ["check", "config", join(place, "prometheus.yaml")]);
  expect(said).toMatch(/SUCCESS/);
  expect(said).not.toMatch(/FAILED/);
});

const place = z.strictObject({
  x: z.int().min(0).max(23),
  y: z.int().min(0),
  w: z.int().min(1).max(24),
  h: z.int().min(1),
});
const dashboardSchema = z.strictObject({
  uid: z.string(),
  title: z.string(),
  tags: z.array(z.string()),
  schemaVersion: z.int(),
  version: z.int(),
  editable: z.boolean(),
  refresh: z.string(),
  time: z.strictObject({ from: z.string(), to: z.string() }),
  timezone: z.string(),
  templating: z.strictObject({
    list: z.array(z.looseObject({ name: z.string(), type: z.literal("datasource") })),
  }),
  annotations: z.strictObject({ list: z.array(z.unknown()) }),
  panels: z.array(
    z.discriminatedUnion("type", [
      z.strictObject({
        id: z.int(),
        type: z.literal("row"),
        title: z.string(),
        collapsed: z.boolean(),
        gridPos: place,
        panels: z.array(z.never()),
      }),
      z.strictObject({
        id: z.int(),
        type: z.enum(["stat", "timeseries"]),
        title: z.string(),
        description: z.string().optional(),
        datasource: z.strictObject({ type: z.literal("prometheus"), uid: z.literal("${datasource}") }),
        gridPos: place,
        fieldConfig: z.strictObject({
          defaults: z.strictObject({ unit: z.string(), min: z.number().optional() }),
          overrides: z.array(z.never()),
        }),
        targets: z
          .array(z.strictObject({ refId: z.string(), expr: z.string(), legendFormat: z.string() }))
          .min(1),
        options: z.looseObject({}),
      }),
    ]),
  ),
});

test("the dashboard is what Grafana takes, asks for what is exported, and in expressions that Prometheus reads", () => {
  const { panels } = dashboardSchema.parse(
    JSON.parse(readFileSync(join(DEPLOY, "grafana/keelson.json"), "utf8")),
  );
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  const exprs = panels.flatMap((panel) =>
    panel.type === "row" ? [] : panel.targets.map(({ expr }) => expr),
  );
  expect(exprs.length).toBeGreaterThan(30);
  for (const expr of exprs) expect([expr, notExported(expr)]).toEqual([expr, []]);
  const rules = exprs.map((expr, n) => ({
    record: `dashboard:${n}`,
    expr: expr.replaceAll("$__rate_interval", "1m"),
  }));
  const file = join(folder, "dashboard-rules.yaml");
  writeFileSync(file, stringify({ groups: [{ name: "dashboard", rules }] }));
  expect(output(promtool, ["check", "rules", file])).toMatch(/SUCCESS/);
  expect(notExported("rate(keelson_node_of_yesterday[5m])")).toEqual(["keelson_node_of_yesterday"]);
});
