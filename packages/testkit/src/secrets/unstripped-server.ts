// A server without the step that removes secret values from a spec, so that tests reach the second check, which rejects
// them.

import { isJsonObject, type JsonObject } from '@holdfast/contract'
import { normalise } from '@holdfast/core'
import { createHttpServer } from '@holdfast/server/api/http-server'
import { createAuthenticate, isLiveCaller } from '@holdfast/server/api/request/authenticate'
import { createRateLimit } from '@holdfast/server/api/request/rate-limit'
import { deploymentEndpoints } from '@holdfast/server/api/routes/deployments'
import { createClientAddress } from '@holdfast/server/net/client-address'
import type { DeploymentDeps } from '@holdfast/server/operations/deployments/deps'
import { findTenant } from '@holdfast/server/operations/tenants/tenant-names'
import { freePort } from '@holdfast/testkit'
import pino from 'pino'
import { type ApiClient, createApiClient } from '../platform/api-client.ts'

export interface UnstrippedServer {
  api(token: string): ApiClient
  stop(): Promise<void>
}

export async function startUnstripped(deps: DeploymentDeps): Promise<UnstrippedServer> {
  const { store, clock, ids } = deps
  const port = await freePort()
  const publicUrl = `http://127.0.0.1:${port}`
  const http = createHttpServer({
    endpoints: deploymentEndpoints({ ...deps, normalise: unstripped }),
    pages: [],
    gate: {
      authenticate: createAuthenticate(store, clock),
      rateLimit: createRateLimit(
        { requestsPerMinute: 1_000_000, burst: 1_000_000, tenantMultiple: 1 },
        clock,
      ),
      holdBack: async () => {},
      findTenant: (idOrName) => findTenant(store, idOrName),
      fresh: () => store.fresh(),
      isLive: (caller) => isLiveCaller(store, caller),
      noteUse: () => {},
    },
    log: pino({ level: 'silent' }),
    audit: { rejected: () => {} },
    metrics: { observeRequest: () => {}, countRejection: () => {} },
    publicUrl,
    bodyBytes: 1_048_576,
    bodyDepth: 32,
    headerBytes: 16_384,
    internalCalls: { node: async () => ({ status: 404, body: '{}' }), judgeHead: () => 'refused' },
    connections: {
      ...{ maxConnections: 1_000, halfOpenPerAddress: 1_000, headersMs: 10_000, requestMs: 30_000 },
      ...{ isExempt: () => true, onRefused: () => {} },
    },
    isStopping: () => false,
    clientAddress: createClientAddress([]),
    newRequestId: () => `req_${ids.ulid()}`,
  })
  await http.listen({ host: '127.0.0.1', port })
  return { api: (token) => createApiClient(publicUrl, token), stop: () => http.close() }
}

const unstripped: typeof normalise = (sent, current, limits) => {
  const normal = normalise(sent, current, limits)
  const entries = Array.isArray(sent['secrets']) ? sent['secrets'] : []
  const kept = (index: number): JsonObject => {
    const entry = entries[index]
    return isJsonObject(entry) ? entry : {}
  }
  const secrets = normal.spec.secrets.map((entry, index) => ({ ...kept(index), ...entry }))
  return { ...normal, spec: { ...normal.spec, secrets } }
}
