// Isolation by names: tests share an engine but never a name in it.

import { randomUUID } from 'node:crypto'

/** A DNS label that no other test uses: `kv-1f0c9a…`. */
export function uniqueName(kind: string): string {
  return `${kind}-${randomUUID().replaceAll('-', '').slice(0, 16)}`
}

/** A key prefix in etcd, ending in `/` as every key part does. */
export function uniquePrefix(): string {
  return `/${uniqueName('test')}/`
}

/** A repository name in a registry. */
export function uniqueRepository(): string {
  return `test/${uniqueName('image')}`
}
