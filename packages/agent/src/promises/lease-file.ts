// The newest acknowledged stamp of each node, in a file that survives a restart of the agent. An entry is used only for the
// set of volumes that the node acknowledged whole, and only in the same boot. A lost write makes a lease end earlier, so
// nothing is synced. See docs/design/promises.md

import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { branded, decodeOpen, integer, list, type NodeId, object, string } from '@holdfast/contract'

const FILE = 'leases.json'

const ackedShape = object({ node: branded<NodeId>(), ms: integer(), set: string() })
const fileShape = object({ boot: integer(), acked: list(ackedShape) })

export interface AckedSet {
  readonly ms: number
  readonly set: string
}

export interface LeaseFile {
  /** The acknowledged sets of this boot, as the last start of the agent left them. */
  readonly saved: ReadonlyMap<NodeId, AckedSet>
  /** Writes the file soon. A failure is not reported: it costs only the lease of the next start. */
  write(acked: ReadonlyMap<NodeId, AckedSet>): void
  settled(): Promise<void>
}

export async function openLeaseFile(folder: string, boot: number): Promise<LeaseFile> {
  const path = join(folder, FILE)
  let writing = Promise.resolve()
  let isQueued = false
  return {
    saved: await readAcked(path, boot),
    write(acked) {
      if (isQueued) return
      isQueued = true
      writing = writing
        .then(async () => {
          isQueued = false
          const entries = [...acked].map(([node, { ms, set }]) => ({ node, ms, set }))
          await writeFile(`${path}.new`, JSON.stringify({ boot, acked: entries }), { mode: 0o600 })
          await rename(`${path}.new`, path)
        })
        .catch(() => {})
    },
    settled: () => writing,
  }
}

async function readAcked(path: string, boot: number): Promise<Map<NodeId, AckedSet>> {
  try {
    const file = decodeOpen(fileShape, JSON.parse(await readFile(path, 'utf8')))
    return new Map(file.boot === boot ? file.acked.map(({ node, ms, set }) => [node, { ms, set }]) : [])
  } catch {
    return new Map()
  }
}
