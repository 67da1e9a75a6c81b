/** `--token-rate` and `--address-rate` as a gateway's limits. */
import type { GatewayLimits } from "@keelson/gateway";

export function rateLimits(token: number | undefined, address: number | undefined): Partial<GatewayLimits> {
  return {
    ...(token === undefined ? {} : { tokenRequestsPerSecondMax: token }),
    ...(address === undefined ? {} : { addressRequestsPerSecondMax: address }),
  };
}
