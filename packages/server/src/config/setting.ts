// What a setting is beyond its type: its default, the values it takes, whether it is secret, what it means. Written on
// the nodes of a contract Shape, so that the type, the check, the defaults and the guide come from one place.

import type { Shape, ShapeNode } from '@holdfast/contract'

/** A grammar with its name in words. */
export interface Form {
  readonly accepts: string
  readonly test: (text: string) => boolean
}

export interface Setting<T = unknown> {
  readonly about?: string
  /** Taken when neither file nor environment gives a value; without it, and not optional, a value is required. */
  readonly default?: T
  /** Shown nowhere: not by check-config, not in a fault. */
  readonly secret?: true
  /** A path whose file holds a secret. A value that is no path is not quoted: it may be the secret itself. */
  readonly secretFile?: true
  /** A path whose file must be readable when the server starts. */
  readonly file?: true
  /** Of a string; of a map, its keys. */
  readonly form?: Form
  /** Of a whole number; of a list, its length. */
  readonly minimum?: number
  readonly maximum?: number
  /** A list without repeats. */
  readonly distinct?: true
}

/** Every node of the configuration's shape, annotated or not. */
export type SettingNode = ShapeNode & { readonly setting?: Setting }

/** A shape that says more than its type. The annotation is invisible to whoever reads the shape only. */
export function setting<T>(shape: Shape<T>, about: Setting<T>): Shape<T> {
  return Object.assign({ ...shape }, { setting: about })
}

/** The node itself, or what an optional node holds. */
export function innerNode(node: SettingNode): SettingNode {
  return node.kind === 'optional' ? innerNode(node.inner) : node
}

/** A section is what a reader of the file sees as a heading: its fields are settings of their own. */
export function isSection(node: SettingNode): node is SettingNode & { readonly kind: 'object' } {
  return node.kind === 'object'
}
