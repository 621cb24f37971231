// The endpoints /backups.

import {
  backupRecordShape,
  backupShape,
  dryRunResultShape,
  dryRunShape,
  pageShape,
  writtenShape,
} from '@holdfast/contract'
import type { CallOptions, Calls, ConditionalOptions, IntentOptions } from '../calls.ts'
import type { PageQuery } from '../pages.ts'
import { segment } from '../request.ts'

const ALL = '/backups'
const one = (id: string): string => `${ALL}/${segment(id)}`
const restoreOf = (id: string): string => `${one(id)}/restore`

export function backupCalls(calls: Calls) {
  const { get, post, write } = calls
  return {
    list: (page: PageQuery = {}, options?: CallOptions) =>
      get(ALL, pageShape(backupShape), { ...page }, options),
    read: (id: string, options?: CallOptions) => get(one(id), backupRecordShape, {}, options),
    create: (deploymentName: string, options?: IntentOptions) =>
      post(ALL, { deploymentName }, backupShape, options),
    remove: (id: string, options?: ConditionalOptions) => write('DELETE', one(id), backupShape, {}, options),
    restore: (id: string, options?: IntentOptions & ConditionalOptions) =>
      post(restoreOf(id), undefined, writtenShape, options),
    dryRuns: dryRunsOf(calls),
  }
}

const backupPlan = dryRunResultShape(backupShape)

function dryRunsOf({ dryRun }: Calls) {
  return {
    create: (deploymentName: string, options?: CallOptions) =>
      dryRun('POST', ALL, backupPlan, { body: { deploymentName } }, options),
    remove: (id: string, options?: ConditionalOptions) => dryRun('DELETE', one(id), backupPlan, {}, options),
    restore: (id: string, options?: ConditionalOptions) =>
      dryRun('POST', restoreOf(id), dryRunShape, {}, options),
  }
}
