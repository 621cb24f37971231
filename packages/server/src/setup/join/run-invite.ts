// `holdfast-server setup invite`: issues the certificates of a further machine and writes its invitation to a file that only
// root can read. Changes nothing else.

import type { Config } from '../../config/schema.ts'
import { withSecretId } from '../../connect-engines.ts'
import { certificates } from '../common-steps.ts'
import { gatherServiceConfig } from '../engines.ts'
import { readIfPresent, writeOwned } from '../files.ts'
import { type Layout, layoutBelow, type Ports, type SetupOptions } from '../layout.ts'
import type { Machine } from '../machine.ts'
import { issuePair } from '../openssl.ts'
import { SetupFault } from '../performing.ts'
import type { SetupOutput } from '../run-setup.ts'
import { explainInvite } from './explain-invite.ts'
import { gatherMembers } from './gather-join.ts'
import { type Invitation, type InvitedFile, writeInvitation } from './invitation.ts'
import { configuredAddress, planNetwork, secretsStoreUrl } from './network.ts'

export interface InviteRun {
  readonly name: string
  readonly address: string
  /** The file that is written. */
  readonly file: string
  readonly root: string
  readonly ports: Ports
}

/** Returns the exit code: 0 if the invitation was written, otherwise 1. */
export async function runInvite(run: InviteRun, machine: Machine, output: SetupOutput): Promise<number> {
  const layout = layoutBelow(run.root)
  const config = gatherServiceConfig(layout, 'server')
  const ownAddress = configuredAddress(readIfPresent(layout.etcdEnvironment))
  const host = optionsOf(run, config, ownAddress ?? run.address)
  const members = await gatherMembers(host, layout, undefined)
  const needed = [...sharedFiles(layout).map(([, path]) => path), layout.authority.key]
  const missing = needed.filter((path) => readIfPresent(path) === undefined)
  const facts = { missing, authorityKey: layout.authority.key, ownAddress, members }
  const reasons = explainInvite(facts, run)
  for (const reason of reasons) output.err(`${reason}\n`)
  if (reasons.length > 0) return 1
  const { endpoints = [] } = planNetwork({ members, hasEtcdData: true, etcdEnvironment: undefined }, host)
  const invitation = await createInvitation(run, host, endpoints)
  writeOwned(machine, { path: run.file, mode: 0o600, owner: 'root' }, writeInvitation(invitation))
  output.err(explainUse(run))
  return 0
}

const explainUse = ({ file, name, address }: InviteRun): string =>
  `Wrote ${file}, which contains the keys of ${name}. Copy it to ${address} as root, and run there:\n` +
  `  holdfast-server setup --join ${file} --unseal-key-file FILE\nThen delete both copies.\n`

function optionsOf({ root, ports }: InviteRun, config: Config | undefined, address: string): SetupOptions {
  const [publicUrl, listenPort] = [config?.publicUrl ?? '', config?.listen.port ?? 0]
  return { root, ports, address, publicUrl, listenPort, engines: '', name: '' }
}

/** The files that are equal on all machines. */
const sharedFiles = (layout: Layout): readonly (readonly [InvitedFile, string])[] => [
  ['ca', layout.authority.cert],
  ['cluster-key', layout.serverKey],
  ['server.yaml', layout.serverConfig],
  ['broker.yaml', layout.brokerConfig],
]

async function createInvitation(
  { name, address }: InviteRun,
  host: SetupOptions,
  endpoints: readonly string[],
): Promise<Omit<Invitation, 'v'>> {
  const layout = layoutBelow(host.root)
  const files: { [item: string]: string } = {}
  for (const [item, path] of sharedFiles(layout)) files[item] = requireText(path)
  for (const service of ['server', 'broker'] as const)
    Object.assign(files, await issueSecretIdOf(service, layout))
  for (const step of certificates({ ...host, address }, layout, 'invitation')) {
    const pair = await issuePair(step, layout.authority)
    Object.assign(files, { [`${step.role}.pem`]: pair.cert, [`${step.role}-key.pem`]: pair.key })
  }
  const secretsStores = endpoints.map((url) => {
    const peer = new URL(url).hostname.replaceAll(/[[\]]/g, '')
    return secretsStoreUrl({ address: peer, ports: host.ports })
  })
  const { publicUrl, listenPort } = host
  return { name, address, publicUrl, listenPort, etcd: [...endpoints], secretsStores, files }
}

/** The invited machine gets secret ids of its own, because each process destroys the one that it has renewed. */
async function issueSecretIdOf(service: 'server' | 'broker', layout: Layout): Promise<object> {
  const config = gatherServiceConfig(layout, service)
  const name = service === 'server' ? 'api' : 'broker'
  const held = config?.secretsStore[name]?.secretId
  if (config === undefined || held === undefined)
    throw new SetupFault(
      `The configuration of the ${service} has faults or no secret id. Run: holdfast-server doctor`,
    )
  const issued = await withSecretId(config, name, held, (calls) => calls.issue())
  if (issued.kind === 'issued') return { [`${name}-secret-id`]: `${issued.secretId.reveal()}\n` }
  const why = issued.kind === 'denied' ? 'its policy is of an earlier version' : issued.cause
  throw new SetupFault(
    `The secrets store issued no secret id of the identity ${name}: ${why}. Repair it, or update the policies with: holdfast-server init --operator-token-file FILE`,
  )
}

function requireText(path: string): string {
  const text = readIfPresent(path)
  if (text === undefined) throw new SetupFault(`${path} is missing. Run setup again.`)
  return text
}
