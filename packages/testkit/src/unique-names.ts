// Generates unique names, because tests share an engine and must not share a name in it.

import { randomUUID } from 'node:crypto'

/** A DNS label that no other test uses, such as `kv-1f0c9a…`. */
export function uniqueName(kind: string): string {
  return `${kind}-${randomUUID().replaceAll('-', '').slice(0, 16)}`
}

/** A key prefix in etcd that no other test uses, ending in `/` as every key part does. */
export function uniquePrefix(): string {
  return `/${uniqueName('test')}/`
}

/** A repository name in a registry that no other test uses. */
export function uniqueRepository(): string {
  return `test/${uniqueName('image')}`
}
