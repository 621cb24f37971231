// The tools of each step of a setup, and the fault that ends a setup.

import type { Secret } from '../ports/secret.ts'
import type { Invitation } from './join/invitation.ts'
import type { SetupOptions } from './layout.ts'
import type { Machine } from './machine.ts'

export interface Performing {
  readonly options: SetupOptions
  readonly machine: Machine
  /** The unseal key of the operator's file, if setup was run with one. */
  readonly unsealKey: Secret | undefined
  /** The invitation of a machine that joins. */
  readonly invitation: Invitation | undefined
  /** Prints a message for the operator. It must contain no credential. */
  report(message: string): void
  /** Prints the credentials, which are shown once. */
  show(credentials: { readonly token?: string; readonly unsealKey?: string }): void
}

/** A step that failed. The message says what happened and what the operator can do. Setup can be run again. */
export class SetupFault extends Error {
  override readonly name = 'SetupFault'
}
