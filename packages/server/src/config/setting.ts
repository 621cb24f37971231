// Annotations of a setting beyond its type: default, accepted values, secrecy and meaning. They are written on the nodes of
// a contract Shape, so that the type, the checks, the defaults and the reference have one source.

import type { Shape, ShapeNode } from '@holdfast/contract'

/** An accepted syntax and its description for fault messages. */
export interface Form {
  readonly accepts: string
  readonly test: (text: string) => boolean
}

export interface Setting<T = unknown> {
  /** Its meaning, for the reference. */
  readonly about?: string
  /** Used when neither file nor environment sets a value. Without it, a setting that is not optional is required. */
  readonly default?: T
  /** Never shown, neither by check-config nor in a fault. */
  readonly secret?: true
  /** The path of a file that holds a secret. A value that is not a path is not quoted: it may be the secret itself. */
  readonly secretFile?: true
  /** The path of a file that must be readable when the server starts. */
  readonly file?: true
  /** For a string, its syntax; for a map, the syntax of its keys. */
  readonly form?: Form
  /** For an integer, its range; for a list, its length. */
  readonly minimum?: number
  readonly maximum?: number
  /** A list without repeated elements. */
  readonly distinct?: true
}

/** Any node of the configuration's shape, annotated or not. */
export type SettingNode = ShapeNode & { readonly setting?: Setting }

/** Adds an annotation to a shape. Readers that only know shapes ignore it. */
export function setting<T>(shape: Shape<T>, about: Setting<T>): Shape<T> {
  return Object.assign({ ...shape }, { setting: about })
}

/** The node itself, or the node inside an optional one. */
export function innerNode(node: SettingNode): SettingNode {
  return node.kind === 'optional' ? innerNode(node.inner) : node
}
