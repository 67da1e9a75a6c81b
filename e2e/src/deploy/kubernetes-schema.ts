/**
 * The parts of Kubernetes' and KEDA's schemas that our manifests use, and nothing else: a field that is misspelt, or stands where it does not belong, is an error. The API server
 * would drop such a field in silence.
 */
import { z } from "zod";

const texts = z.record(z.string(), z.string());
const metadata = z.strictObject({
  name: z.string().regex(/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/),
  namespace: z.string().optional(),
  labels: texts.optional(),
  annotations: texts.optional(),
});
const selector = z.strictObject({ matchLabels: texts });
const quantity = z.string().regex(/^\d+(\.\d+)?(m|[KMGT]i?)?$/);
const quantities = z.strictObject({
  cpu: quantity.optional(),
  memory: quantity.optional(),
  storage: quantity.optional(),
});

const probe = z.strictObject({
  httpGet: z.strictObject({
    path: z.string().startsWith("/"),
    port: z.union([z.string(), z.int()]),
    scheme: z.enum(["HTTP", "HTTPS"]).optional(),
  }),
  periodSeconds: z.int().optional(),
  timeoutSeconds: z.int().optional(),
  failureThreshold: z.int().optional(),
  initialDelaySeconds: z.int().optional(),
});

const variable = z.strictObject({
  name: z.string(),
  value: z.string().optional(),
  valueFrom: z
    .strictObject({
      fieldRef: z.strictObject({ fieldPath: z.string() }).optional(),
      secretKeyRef: z.strictObject({ name: z.string(), key: z.string() }).optional(),
    })
    .optional(),
});

const container = z.strictObject({
  name: z.string(),
  image: z.string(),
  imagePullPolicy: z.enum(["Always", "IfNotPresent", "Never"]).optional(),
  args: z.array(z.string()),
  env: z.array(variable).optional(),
  envFrom: z.array(z.strictObject({ secretRef: z.strictObject({ name: z.string() }) })).optional(),
  ports: z.array(z.strictObject({ name: z.string(), containerPort: z.int() })),
  startupProbe: probe,
  livenessProbe: probe,
  readinessProbe: probe,
  lifecycle: z
    .strictObject({ preStop: z.strictObject({ exec: z.strictObject({ command: z.array(z.string()) }) }) })
    .optional(),
  resources: z.strictObject({ requests: quantities, limits: quantities }),
  securityContext: z.strictObject({
    allowPrivilegeEscalation: z.literal(false),
    readOnlyRootFilesystem: z.literal(true),
    capabilities: z.strictObject({ drop: z.tuple([z.literal("ALL")]) }),
  }),
  volumeMounts: z.array(
    z.strictObject({ name: z.string(), mountPath: z.string(), readOnly: z.boolean().optional() }),
  ),
});

const podSpec = z.strictObject({
  terminationGracePeriodSeconds: z.int(),
  automountServiceAccountToken: z.literal(false),
  enableServiceLinks: z.literal(false),
  securityContext: z.strictObject({
    runAsNonRoot: z.literal(true),
    runAsUser: z.int().min(1),
    fsGroup: z.int(),
    seccompProfile: z.strictObject({ type: z.literal("RuntimeDefault") }),
  }),
  topologySpreadConstraints: z.array(
    z.strictObject({
      maxSkew: z.int(),
      topologyKey: z.string(),
      whenUnsatisfiable: z.enum(["ScheduleAnyway", "DoNotSchedule"]),
      labelSelector: selector,
    }),
  ),
  containers: z.array(container).length(1),
  volumes: z.array(
    z.strictObject({
      name: z.string(),
      configMap: z.strictObject({ name: z.string() }).optional(),
      secret: z.strictObject({ secretName: z.string() }).optional(),
      emptyDir: z.strictObject({}).optional(),
    }),
  ),
});

const template = z.strictObject({
  metadata: z.strictObject({ labels: texts, annotations: texts.optional() }),
  spec: podSpec,
});

const scaleBehavior = z.strictObject({
  stabilizationWindowSeconds: z.int().max(3_600),
  policies: z
    .array(
      z.strictObject({
        type: z.enum(["Pods", "Percent"]),
        value: z.int(),
        periodSeconds: z.int().max(1_800),
      }),
    )
    .optional(),
});
const behavior = z.strictObject({ scaleUp: scaleBehavior.optional(), scaleDown: scaleBehavior.optional() });
const target = z.strictObject({
  apiVersion: z.literal("apps/v1"),
  kind: z.enum(["Deployment", "StatefulSet"]),
  name: z.string(),
});
const peers = z.array(
  z.strictObject({ podSelector: selector.optional(), namespaceSelector: selector.optional() }),
);

export const manifestSchema = z.discriminatedUnion("kind", [
  z.strictObject({ apiVersion: z.literal("v1"), kind: z.literal("Namespace"), metadata }),
  z.strictObject({ apiVersion: z.literal("v1"), kind: z.literal("ConfigMap"), metadata, data: texts }),
  z.strictObject({
    apiVersion: z.literal("v1"),
    kind: z.literal("Service"),
    metadata,
    spec: z.strictObject({
      clusterIP: z.literal("None").optional(),
      publishNotReadyAddresses: z.boolean().optional(),
      selector: texts,
      ports: z.array(
        z.strictObject({ name: z.string(), port: z.int(), targetPort: z.union([z.string(), z.int()]) }),
      ),
    }),
  }),
  z.strictObject({
    apiVersion: z.literal("apps/v1"),
    kind: z.literal("StatefulSet"),
    metadata,
    spec: z.strictObject({
      serviceName: z.string(),
      replicas: z.int(),
      podManagementPolicy: z.enum(["Parallel", "OrderedReady"]),
      minReadySeconds: z.int(),
      updateStrategy: z.strictObject({ type: z.literal("RollingUpdate") }),
      selector,
      template,
      volumeClaimTemplates: z.array(
        z.strictObject({
          metadata: z.strictObject({ name: z.string() }),
          spec: z.strictObject({
            accessModes: z.array(z.enum(["ReadWriteOnce"])),
            resources: z.strictObject({ requests: quantities }),
          }),
        }),
      ),
    }),
  }),
  z.strictObject({
    apiVersion: z.literal("apps/v1"),
    kind: z.literal("Deployment"),
    metadata,
    spec: z.strictObject({
      replicas: z.int(),
      strategy: z.strictObject({
        type: z.literal("RollingUpdate"),
        rollingUpdate: z.strictObject({ maxSurge: z.int(), maxUnavailable: z.int() }),
      }),
      selector,
      template,
    }),
  }),
  z.strictObject({
    apiVersion: z.literal("policy/v1"),
    kind: z.literal("PodDisruptionBudget"),
    metadata,
    spec: z.strictObject({ maxUnavailable: z.int(), selector }),
  }),
  z.strictObject({
    apiVersion: z.literal("networking.k8s.io/v1"),
    kind: z.literal("NetworkPolicy"),
    metadata,
    spec: z.strictObject({
      podSelector: selector,
      policyTypes: z.array(z.enum(["Ingress", "Egress"])),
      ingress: z.array(
        z.strictObject({
          from: peers.optional(),
          ports: z.array(z.strictObject({ port: z.int(), protocol: z.enum(["TCP", "UDP"]) })),
        }),
      ),
    }),
  }),
  z.strictObject({
    apiVersion: z.literal("keda.sh/v1alpha1"),
    kind: z.literal("ScaledObject"),
    metadata,
    spec: z.strictObject({
      scaleTargetRef: target,
      minReplicaCount: z.int(),
      maxReplicaCount: z.int(),
      pollingInterval: z.int(),
      cooldownPeriod: z.int(),
      fallback: z.strictObject({
        failureThreshold: z.int(),
        replicas: z.int(),
        behavior: z.enum(["static", "currentReplicas", "currentReplicasIfHigher", "currentReplicasIfLower"]),
      }),
      advanced: z.strictObject({ horizontalPodAutoscalerConfig: z.strictObject({ behavior }) }),
      triggers: z.array(
        z.strictObject({
          type: z.literal("prometheus"),
          metricType: z.enum(["AverageValue", "Value"]),
          metadata: z.strictObject({
            serverAddress: z.url(),
            query: z.string(),
            // Left out, KEDA takes no answer for 0, and would scale a fleet down that is merely not scraped.
            ignoreNullValues: z.literal("false"),
            threshold: z.string(),
          }),
        }),
      ),
    }),
  }),
  z.strictObject({
    apiVersion: z.literal("autoscaling/v2"),
    kind: z.literal("HorizontalPodAutoscaler"),
    metadata,
    spec: z.strictObject({
      scaleTargetRef: target,
      minReplicas: z.int(),
      maxReplicas: z.int(),
      metrics: z.array(
        z.strictObject({
          type: z.literal("Resource"),
          resource: z.strictObject({
            name: z.enum(["cpu", "memory"]),
            target: z.strictObject({ type: z.literal("Utilization"), averageUtilization: z.int().min(1) }),
          }),
        }),
      ),
      behavior,
    }),
  }),
]);

export type Manifest = z.output<typeof manifestSchema>;
