// The roots that this node trusts beside the one that it pinned: authorities that the server has announced before it uses them.
// They are on disk before the server learns of it. See docs/design/certificates.md#the-next-authority

import { hash, X509Certificate } from 'node:crypto'
import { join } from 'node:path'
import { getCACertificates } from 'node:tls'
import {
  branded,
  encodeOpen,
  integer,
  list,
  MAX_AUTHORITIES,
  type NodeId,
  object,
  string,
} from '@holdfast/contract'
import type { Logger } from 'pino'
import { writeDurably } from './durable-file.ts'
import type { NodeState } from './node-state.ts'
import { readOwnFile } from './read-own-file.ts'
import { createSaver } from './saver.ts'

const FILE = 'authorities.json'

const fileShape = object({
  v: integer(),
  nodeId: branded<NodeId>(),
  generation: integer(),
  /** PEM texts, the oldest first. */
  roots: list(string()),
})

export interface Authorities {
  /** Everything that a connection to the server may lead to; undefined: the authorities of this machine. */
  trusted(): readonly string[] | undefined
  /** Fingerprints of the pinned and of the learned roots; those of the machine are not among them. */
  pins(): readonly string[]
  /** Learns announced roots, and calls `onLearned` once all of them are on disk. */
  learn(announced: readonly string[]): void
  close(): Promise<void>
}

type Owner = Pick<NodeState, 'nodeId' | 'generation' | 'ca' | 'server'>

export async function openAuthorities(
  folder: string,
  owner: Owner,
  log: Logger,
  onLearned: () => void,
): Promise<Authorities> {
  const path = join(folder, FILE)
  let learned = await readLearned(path, owner, log)
  let saved = learned
  let trusted = trustedBy(owner, learned)
  const { nodeId, generation } = owner
  const { save, close } = createSaver({
    async write() {
      const writing = learned
      await writeDurably(path, `${encodeOpen({ v: 1, nodeId, generation, roots: [...writing] })}\n`)
      if (saved !== writing) log.info({ roots: writing.map(pinOf) }, 'announced authorities are trusted')
      saved = writing
      onLearned()
    },
    onFailed: (error) => log.error({ message: String(error) }, 'authorities write failed, retrying'),
  })
  return {
    trusted: () => trusted,
    // A root that is not on disk yet would be lost with this process.
    pins: () =>
      [...new Set([...certificatesOf(owner.ca ?? ''), ...saved].map(pinOf))].slice(0, MAX_AUTHORITIES),
    learn(announced) {
      // Without TLS the announcement could come from anyone on the way.
      if (!owner.server.startsWith('https:')) return
      const roots = announced.flatMap((one) => readRoot(one, log) ?? [])
      if (roots.length === 0) return
      const next = withRoots(learned, roots)
      if (next.length === learned.length && next.every((one) => learned.includes(one))) {
        if (saved === learned) onLearned()
        return
      }
      learned = next
      trusted = trustedBy(owner, learned)
      save()
    },
    close,
  }
}

/** Newly announced roots are appended. Beyond the bound, the oldest ones that are no longer announced are dropped. */
function withRoots(known: readonly string[], announced: readonly string[]): readonly string[] {
  const others = known.filter((one) => !announced.includes(one))
  const room = Math.max(0, MAX_AUTHORITIES - 1 - announced.length)
  return [...others.slice(Math.max(0, others.length - room)), ...announced]
}

/** A node without a pin keeps trusting the authorities of its machine. */
function trustedBy({ ca }: Owner, learned: readonly string[]): readonly string[] | undefined {
  if (learned.length === 0) return ca === undefined ? undefined : [ca]
  return [...(ca === undefined ? getCACertificates('default') : [ca]), ...learned]
}

/** The text of a certificate that signs itself; undefined for anything else. */
function readRoot(text: string, log: Logger): string | undefined {
  try {
    const root = new X509Certificate(text)
    if (root.checkIssued(root) && root.verify(root.publicKey)) return root.toString()
  } catch {
    // The warning below covers texts that are no certificate.
  }
  log.warn({}, 'announced authority is no root certificate, ignored')
  return undefined
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g
const certificatesOf = (pem: string): readonly string[] => pem.match(CERTIFICATE) ?? []

const pinOf = (pem: string): string => `sha256:${hash('sha256', new X509Certificate(pem).raw, 'hex')}`

/** An unreadable file is reported; the server announces its authorities again. */
async function readLearned(path: string, owner: Owner, log: Logger): Promise<readonly string[]> {
  try {
    const file = await readOwnFile(path, fileShape, owner)
    return file?.roots.flatMap((one) => readRoot(one, log) ?? []) ?? []
  } catch (error) {
    log.error({ message: String(error) }, 'authorities on disk are unusable')
    return []
  }
}
