/**
 * The services of the product, each as one plug-in. This list is all that nodes, the gateway, the command line and `keelson up` know of them: adding a
 * service is adding its plug-in here.
 */
import { codePlugin } from "@keelson/code";
import { counterPlugin } from "@keelson/examples";
import type { AnyPlugin } from "@keelson/runtime";

export const plugins: readonly AnyPlugin[] = [codePlugin, counterPlugin];
