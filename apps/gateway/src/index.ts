/** The HTTP front door. docs/design/front-door.md describes it, docs/reference/http.md is its reference. */
export { startGateway, type Gateway } from "./gateway.ts";
export { GATEWAY_LIMITS, type GatewayLimits, type GatewayOptions } from "./options.ts";
export { createToken, type NewToken, type TokenRecord } from "./auth/token.ts";
export {
  readTokenFile,
  tokensFromFile,
  tokensFromStore,
  writeTokenFile,
  type TokenSource,
} from "./auth/token-source.ts";
export { tokensInFile, tokensInStore, type TokenKeeper } from "./auth/token-keeper.ts";
export { withTokens } from "./auth/tokens-api.ts";
export { PROBLEMS } from "./problem.ts";
export { GATEWAY_ALERTS } from "./observe/gateway-alerts.ts";
export { GATEWAY_METRICS } from "./observe/gateway-metrics.ts";
export type { Health } from "./observe/health.ts";
export { AuditLog } from "./audit/audit-log.ts";
export type { AuditEntry } from "./audit/audit-entry.ts";
export { withAudit } from "./audit/audit-api.ts";
