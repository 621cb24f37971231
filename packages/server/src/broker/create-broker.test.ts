// Does the broker look a node up again after it has read a registry credential?

import { generateKeyPairSync } from 'node:crypto'
import { asAssignmentId, asNodeId, asOwner, asTenantId } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { secret } from '../ports/secret.ts'
import { deployments, nodes, placements, registryCredentials } from '../store/records.ts'
import { type BrokerDeps, createBroker } from './create-broker.ts'

const UID = 'dep_01JCPZ0000000000000000000A'
const owner = asOwner(`deployment/${UID}`)
const tenant = asTenantId('00000000-0000-4000-8000-000000000001')
const nodeId = asNodeId('node_01JCPZ0000000000000000000B')
const assignmentId = asAssignmentId('rep_1')
const ASK = { tenant, nodeId, owner, assignmentId, host: 'registry.example' }

const keyOfNode = (): string =>
  generateKeyPairSync('x25519')
    .publicKey.export({ format: 'der', type: 'spki' })
    .subarray(-32)
    .toString('base64url')

/** A broker with one node that pulls from one registry. `during` runs while the credential is read. */
function aBroker(during: (records: Map<unknown, object>) => void) {
  const records = new Map<unknown, object>([
    [
      placements,
      {
        owner,
        name: 'web',
        assignments: [{ id: assignmentId, nodeId, templateHash: 't', desired: 'running' }],
        templates: { t: { image: 'registry.example/web@sha256:1' } },
      },
    ],
    [deployments, { uid: UID, deleting: false, spec: { resources: {} } }],
    [nodes, { id: nodeId, encryptionKey: keyOfNode() }],
    [registryCredentials, { version: 1 }],
  ])
  const get = ({ collection }: { readonly collection: unknown }) => {
    const record = records.get(collection)
    return record && { record }
  }
  const readVersion = async () => {
    during(records)
    const document = new Map([
      ['username', secret('puller')],
      ['password', secret('long-password-of-a-registry')],
    ])
    return { kind: 'ok', document }
  }
  const store = { get, fresh: async () => {} }
  const log = { warn: () => {}, error: () => {} }
  return createBroker({ store, log, secretsStore: { readVersion } } as unknown as BrokerDeps)
}

test('a node that pulls from the registry gets its credential', async () => {
  const answer = await aBroker(() => {}).sealCredential(ASK)
  expect(answer.sealed).toBeDefined()
})

test('a node that is removed while the credential is read gets none', async () => {
  const broker = aBroker((records) => records.delete(nodes))
  expect(await broker.sealCredential(ASK)).toEqual({ error: 'not_assigned' })
})
