// Secrets: paths, versions and consumers. No response contains a value.

import { readAll } from '@holdfast/client'
import type { SecretConsumer, SecretReference, SecretSummary } from '@holdfast/contract'
import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { requireValue } from '../failure.ts'
import { keys } from '../keys.ts'
import { useSession } from '../session.tsx'

/** All secrets; their number has a quota. */
export function useSecrets(): UseQueryResult<readonly SecretSummary[]> {
  const { client, tenant } = useSession()
  return useQuery({
    queryKey: keys.secrets(tenant, 'list'),
    queryFn: async ({ signal }) =>
      requireValue(await readAll((page) => client.secrets.list(page, { signal }))),
  })
}

/** Paths that deployments refer to, also those without a value. */
export function useSecretReferences(): UseQueryResult<readonly SecretReference[]> {
  const { client, tenant } = useSession()
  return useQuery({
    queryKey: keys.secrets(tenant, 'references'),
    queryFn: async ({ signal }) =>
      requireValue(await readAll((page) => client.secrets.references(page, { signal }))),
  })
}

/** The consumers of one path. The server lists those of a name in all namespaces. */
export function useSecretConsumers(path: string): UseQueryResult<readonly SecretConsumer[]> {
  const { client, tenant } = useSession()
  const label = path.slice(path.indexOf('/') + 1)
  return useQuery({
    queryKey: keys.secrets(tenant, 'consumers', path),
    queryFn: async ({ signal }) => {
      const read = await readAll((page) => client.secrets.consumers(label, page, { signal }))
      return requireValue(read).filter(({ vault_path }) => vault_path === path)
    },
  })
}
