/** What a service shows in the console: pages, each with the routes whose answers it shows. The console draws them; how is its affair. */

export interface ConsolePage {
  /** In the address: `/console/<plug-in>/<id>`. */
  readonly id: string;
  readonly title: string;
  readonly about: string;
  /** Names of the plug-in's routes that the page reads; one that streams keeps it live. */
  readonly reads: readonly string[];
  /** Names of routes behind buttons, each with the question that is asked before. */
  readonly actions?: readonly { readonly route: string; readonly title: string; readonly confirm: string }[];
}
