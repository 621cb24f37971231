// The endpoints of networks.

import {
  dryRunResultShape,
  type JsonObject,
  networkShape,
  pageShape,
  writtenNetworkShape,
} from '@holdfast/contract'
import type { CallOptions, Calls, ConditionalOptions, IntentOptions } from '../calls.ts'
import type { PageQuery } from '../pages.ts'
import { segment } from '../request.ts'

/** A network that the client has not checked; the server validates it. */
export type SentNetwork = JsonObject

const NETWORKS = '/networks'
const one = (id: string): string => `${NETWORKS}/${segment(id)}`

export function networkCalls({ get, post, write, dryRun }: Calls) {
  return {
    list: (page: PageQuery = {}, options?: CallOptions) =>
      get(NETWORKS, pageShape(networkShape), { ...page }, options),
    read: (id: string, options?: CallOptions) => get(one(id), networkShape, {}, options),
    create: (sent: SentNetwork, options?: IntentOptions) =>
      post(NETWORKS, sent, writtenNetworkShape, options),
    remove: (id: string, options?: ConditionalOptions) => write('DELETE', one(id), networkShape, {}, options),
    dryRuns: {
      create: (sent: SentNetwork, options?: CallOptions) =>
        dryRun('POST', NETWORKS, dryRunResultShape(writtenNetworkShape), { body: sent }, options),
      remove: (id: string, options?: CallOptions) =>
        dryRun('DELETE', one(id), dryRunResultShape(networkShape), {}, options),
    },
  }
}
