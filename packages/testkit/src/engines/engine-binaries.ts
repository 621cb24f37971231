// Finds the binary of an engine. Built engines are in a cache folder per version. The version is read from the file that
// pins it (engines/<name>/go.mod, requirements.txt); scripts/bootstrap builds from the same file.

import { accessSync, constants, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import { env } from 'node:process'

const BUILT = {
  etcd: { engine: 'etcd', pinnedIn: 'etcd/go.mod', path: 'etcd' },
  etcdctl: { engine: 'etcd', pinnedIn: 'etcd/go.mod', path: 'etcdctl' },
  etcdutl: { engine: 'etcd', pinnedIn: 'etcd/go.mod', path: 'etcdutl' },
  vault: { engine: 'vault', pinnedIn: 'vault/go.mod', path: 'vault' },
  caddy: { engine: 'caddy', pinnedIn: 'caddy/go.mod', path: 'caddy' },
  'dockerd-29': { engine: 'docker', pinnedIn: 'docker/go.mod', path: 'dockerd' },
  'containerd-29': { engine: 'docker', pinnedIn: 'docker/go.mod', path: 'containerd' },
  schemathesis: {
    engine: 'schemathesis',
    pinnedIn: 'schemathesis/requirements.txt',
    path: 'bin/schemathesis',
  },
} as const
const PINS: { readonly [engine: string]: RegExp } = {
  etcd: /^\s*go\.etcd\.io\/etcd\/server\/v3 v(\S+)/m,
  vault: /^\s*github\.com\/hashicorp\/vault v(\S+)/m,
  caddy: /^require github\.com\/caddyserver\/caddy\/v2 v(\S+)/m,
  docker: /^\s*github\.com\/moby\/moby\/v2 v(\S+)/m,
  schemathesis: /^schemathesis==(\S+)/m,
}

type Built = keyof typeof BUILT
/** Engine binaries that Debian packages install, found on the PATH. */
type Installed =
  | 'docker-registry'
  | 'promtool'
  | 'setpriv'
  | 'perl'
  | 'dockerd'
  | 'containerd'
  | 'busybox'
  | 'redis-server'
  | 'redis-cli'
  | 'ldd'
  | 'ip'
  | 'iptables'
  | 'nsenter'
  | 'mount'
  | 'umount'
  | 'fallocate'
  | 'losetup'
  | 'chrt'
  | 'mkfs.btrfs'
  | 'mkfs.ext4'
export type EngineBinary = Built | Installed

/** The path of an engine's executable. If the executable is missing, the error explains how to install it. */
export function engineBinary(name: EngineBinary): string {
  const path = isBuilt(name) ? builtPath(name) : installedPath(name)
  if (path !== undefined && isExecutable(path)) return path
  throw new Error(`${name} is not installed (searched ${path ?? 'the PATH'}): run "npm run bootstrap".`)
}

/** The pinned version of an engine that scripts/bootstrap builds. */
export function engineVersion(name: Built): string {
  const { engine, pinnedIn } = BUILT[name]
  const file = new URL(`../../../../engines/${pinnedIn}`, import.meta.url)
  const version = PINS[engine]?.exec(readFileSync(file, 'utf8'))?.[1]
  if (version === undefined) throw new Error(`engines/${pinnedIn} pins no version of ${engine}.`)
  return version
}

/** Cache folder of built engines, outside the repository, so that a second clone of the repository builds nothing. */
export function engineCacheFolder(): string {
  return env.HOLDFAST_ENGINES ?? join(homedir(), '.cache', 'holdfast')
}

const isBuilt = (name: EngineBinary): name is Built => name in BUILT

function builtPath(name: Built): string {
  const { engine, path } = BUILT[name]
  return join(engineCacheFolder(), `${engine}-${engineVersion(name)}`, path)
}

function installedPath(name: Installed): string | undefined {
  const folders = `${env.PATH ?? ''}${delimiter}/usr/sbin`.split(delimiter)
  return folders.map((folder) => join(folder, name)).find(isExecutable)
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
