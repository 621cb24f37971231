// Dry runs of writes: the platform validates and plans, and stores nothing. Each may be repeated.

import {
  deletedDeploymentShape,
  dryRunDocumentsResultShape,
  dryRunResultShape,
  dryRunShape,
  type Json,
  nodeShape,
  rotationShape,
  secretWrittenShape,
  tenantShape,
  tokenShape,
} from '@holdfast/contract'
import type { CallOptions, Calls, ConditionalOptions } from '../calls.ts'
import { segment } from '../request.ts'
import type { SentCanary, SentDeployment } from './deployments.ts'
import type { SentRotation, SentSecret } from './secrets.ts'
import type { TenantPatch } from './tenants.ts'

const nodePlan = dryRunResultShape(nodeShape)
const tenantPlan = dryRunResultShape(tenantShape)
const deployment = (name: string): string => `/deployments/${segment(name)}`
const node = (id: string): string => `/nodes/${segment(id)}`
const tenant = (id: string): string => `/tenants/${segment(id)}`

export function dryRunCalls({ judge, dryRun }: Calls) {
  return {
    /** Judges several manifests, each as if those that it needs were stored and ready. */
    documents: (documents: readonly Json[], options?: CallOptions) =>
      judge('/dry-run', { documents: [...documents] }, dryRunDocumentsResultShape, options),
    create: (sent: SentDeployment, options?: CallOptions) =>
      dryRun('POST', '/deployments', dryRunShape, { body: sent }, options),
    update: (name: string, sent: SentDeployment, options?: ConditionalOptions) =>
      dryRun('PUT', deployment(name), dryRunShape, { body: sent }, options),
    remove: (name: string, options?: ConditionalOptions) =>
      dryRun('DELETE', deployment(name), dryRunResultShape(deletedDeploymentShape), {}, options),
    restart: (name: string, options?: ConditionalOptions) =>
      dryRun('POST', `${deployment(name)}/restart`, dryRunShape, {}, options),
    rollBack: (name: string, revision: number, options?: ConditionalOptions) =>
      dryRun('POST', `${deployment(name)}/rollback`, dryRunShape, { body: { revision } }, options),
    startCanary: (name: string, sent: SentCanary, options?: ConditionalOptions) =>
      dryRun('POST', `${deployment(name)}/canary`, dryRunShape, { body: { ...sent } }, options),
    promoteCanary: (name: string, force: boolean, options?: ConditionalOptions) =>
      dryRun('POST', `${deployment(name)}/canary/promote`, dryRunShape, { body: { force } }, options),
    abortCanary: (name: string, options?: ConditionalOptions) =>
      dryRun('POST', `${deployment(name)}/canary/abort`, dryRunShape, {}, options),
    rotate: (name: string, sent: SentRotation, options?: CallOptions) =>
      dryRun(
        'POST',
        `${deployment(name)}/secrets/rotate`,
        dryRunResultShape(rotationShape),
        { body: { ...sent } },
        options,
      ),
    setSecret: (namespace: string, resource: string, sent: SentSecret, options?: ConditionalOptions) =>
      dryRun(
        'PUT',
        `/secrets/${segment(namespace)}/${segment(resource)}`,
        dryRunResultShape(secretWrittenShape),
        { body: { ...sent } },
        options,
      ),
    changeNode: (id: string, action: 'cordon' | 'uncordon' | 'drain', options?: CallOptions) =>
      dryRun('POST', `${node(id)}/${action}`, nodePlan, {}, options),
    removeNode: (id: string, { force = false }: { readonly force?: boolean } = {}, options?: CallOptions) =>
      dryRun('DELETE', node(id), nodePlan, { query: { force } }, options),
    releaseClaim: (nodeName: string, options?: CallOptions) =>
      dryRun('DELETE', `${node(nodeName)}/claim`, nodePlan, {}, options),
    changeTenant: (id: string, patch: TenantPatch, options?: ConditionalOptions) =>
      dryRun('PATCH', tenant(id), tenantPlan, { body: { ...patch } }, options),
    revokeToken: (tenantId: string, id: string, options?: CallOptions) =>
      dryRun(
        'DELETE',
        `${tenant(tenantId)}/tokens/${segment(id)}`,
        dryRunResultShape(tokenShape),
        {},
        options,
      ),
    removeTenant: (id: string, options?: ConditionalOptions) =>
      dryRun('DELETE', tenant(id), tenantPlan, {}, options),
  }
}
