// Annotations of a setting beyond its type: default, accepted values, secrecy and meaning. Annotations are written on the
// nodes of a contract Shape, so that the type, the checks, the defaults and the reference have one source.

import type { Shape, ShapeNode } from '@holdfast/contract'

/** An accepted syntax of a text setting, and its description for fault messages. */
export interface Form {
  readonly accepts: string
  readonly test: (text: string) => boolean
}

export interface Setting<T = unknown> {
  /** Meaning of the setting, for the reference. */
  readonly about?: string
  /** Value if neither file nor environment sets one. A setting without a default is required unless it is optional. */
  readonly default?: T
  /** True if the value is secret: neither check-config nor a fault ever shows it. */
  readonly secret?: true
  /** True for the path of a file with a secret. A value that is not a path is not quoted: it may be the secret itself. */
  readonly secretFile?: true
  /** True for the path of a file that must be readable when the server starts. */
  readonly file?: true
  /** For a string, its accepted syntax; for a map, the accepted syntax of the keys. */
  readonly form?: Form
  /** Lower limit: for an integer, of the value; for a list, of the length. */
  readonly minimum?: number
  readonly maximum?: number
  /** True for a list whose elements must not repeat. */
  readonly distinct?: true
}

/** Any shape node of the configuration schema, with or without an annotation. */
export type SettingNode = ShapeNode & { readonly setting?: Setting }

/** Adds an annotation to a shape. Code that only knows shapes ignores the annotation. */
export function setting<T>(shape: Shape<T>, about: Setting<T>): Shape<T> {
  return Object.assign({ ...shape }, { setting: about })
}

/** Returns the shape node inside an optional node; any other shape node is returned unchanged. */
export function innerNode(node: SettingNode): SettingNode {
  return node.kind === 'optional' ? innerNode(node.inner) : node
}
