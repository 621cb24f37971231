// The endpoints of scaling policies.

import { dryRunResultShape, type JsonObject, scalingShape, writtenScalingShape } from '@holdfast/contract'
import type { CallOptions, Calls, ConditionalOptions } from '../calls.ts'
import { segment } from '../request.ts'

/** A scaling policy, or the fields to change, that the client has not checked; the server validates them. */
export type SentScaling = JsonObject

const policyOf = (name: string): string => `/deployments/${segment(name)}/scaling`

export function scalingCalls({ get, write, dryRun }: Calls) {
  return {
    read: (name: string, options?: CallOptions) => get(policyOf(name), scalingShape, {}, options),
    set: (name: string, sent: SentScaling, options?: ConditionalOptions) =>
      write('PUT', policyOf(name), writtenScalingShape, { body: sent }, options),
    remove: (name: string, options?: ConditionalOptions) =>
      write('DELETE', policyOf(name), scalingShape, {}, options),
    dryRuns: {
      set: (name: string, sent: SentScaling, options?: ConditionalOptions) =>
        dryRun('PUT', policyOf(name), dryRunResultShape(writtenScalingShape), { body: sent }, options),
      remove: (name: string, options?: ConditionalOptions) =>
        dryRun('DELETE', policyOf(name), dryRunResultShape(scalingShape), {}, options),
    },
  }
}
