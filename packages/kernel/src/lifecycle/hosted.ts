/** Who the host is, in the records that it writes. */
export interface HostIdentity {
  readonly node: string;
  readonly boot: string;
  readonly address: string;
}

/** What a service's lifecycle looks like from the host. */
export interface HostedService {
  /** It has a `prepare` that takes time; otherwise every replica counts as prepared. */
  readonly builds: boolean;
  readonly primary: boolean;
  /** Who grants what nobody holds; by the plan when left out. */
  readonly grants?: "plan" | "auction" | "claim";
}

export function isPlanned(service: HostedService | undefined): boolean {
  return (service?.grants ?? "plan") === "plan";
}
