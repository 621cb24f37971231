// The files from which Caddy reads the key and certificate of the node's router. They are copies of the agent's own, in
// Caddy's folder, so that Caddy needs no access to the agent's state.

import { mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { RouterIdentity } from '../../ports/router.ts'
import { writeDurably } from '../../state/durable-file.ts'
import { peerKeyFile, peerKeyFolder } from './peer-config.ts'

export interface PeerKeys {
  write(identity: RouterIdentity): Promise<void>
  /** Deletes the files of other certificates, which Caddy has read already. */
  removeOthers(identity: RouterIdentity | undefined): Promise<void>
}

export function openPeerKeys(upstreamsFolder: string): PeerKeys {
  const folder = peerKeyFolder(upstreamsFolder)
  return {
    async write(identity) {
      const path = peerKeyFile(upstreamsFolder, identity)
      const text = `${identity.certificate}${identity.key}`
      // A file that cannot be read is written again.
      if ((await readFile(path, 'utf8').catch(() => undefined)) === text) return
      await mkdir(folder, { recursive: true, mode: 0o700 })
      await writeDurably(path, text)
    },
    async removeOthers(identity) {
      const own = identity && basename(peerKeyFile(upstreamsFolder, identity))
      // A folder that does not exist has no files.
      const files = await readdir(folder).catch(() => [])
      for (const file of files) if (file !== own) await rm(join(folder, file), { force: true })
    },
  }
}
