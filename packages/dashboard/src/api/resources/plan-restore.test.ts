import type { Client } from '@holdfast/client'
import { asBackupId } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { planRestore } from './plan-restore.ts'

const BACKUP = { id: asBackupId('bak_1'), deploymentName: 'web' }
const { signal } = new AbortController()

/** A server with the deployment in this revision, or without it, that records the conditions of dry runs. */
function server(revision: number | undefined) {
  const conditions: unknown[] = []
  const client = {
    deployments: {
      read: async () =>
        revision === undefined
          ? { ok: false, failure: { kind: 'rejected', status: 404, rejections: [] } }
          : { ok: true, value: { revision } },
    },
    backups: {
      dryRuns: {
        restore: async (_: unknown, { ifMatch }: { ifMatch?: string }) => {
          conditions.push(ifMatch)
          return { ok: true, value: { plan: {} } }
        },
      },
    },
  }
  return { conditions, client: client as unknown as Client }
}

test('a restore is planned for the revision that it would replace, which the restore then requires', async () => {
  const { client, conditions } = server(7)
  expect(await planRestore(client, BACKUP, { signal })).toMatchObject({ value: { revision: 7 } })
  expect(conditions).toEqual(['7'])
})

test('a restore of a deployment that is gone requires no revision', async () => {
  const { client, conditions } = server(undefined)
  const planned = await planRestore(client, BACKUP, { signal })
  expect(planned.ok && planned.value.revision).toBeUndefined()
  expect(conditions).toEqual([undefined])
})
