// The facts that setup observes on the machine before it decides. Paths that do not exist are absent from the maps.

import type { EtcdMember } from '../ports/etcd-members.ts'
import type { Service } from './layout.ts'

export interface FileFact {
  readonly mode: number
  /** Name of the user that owns the file; undefined if owners are not tracked, as below a temporary root folder. */
  readonly owner: string | undefined
  /** The text of a file that setup owns; undefined for keys, secrets and folders, which setup does not read. */
  readonly text?: string
}

export interface CertificateFact {
  readonly notAfterMs: number
  /** Names and addresses in openssl's notation: `DNS:a.example`, `IP:127.0.0.1`. */
  readonly names: readonly string[]
  /** Whether the authority of this machine signed the certificate. */
  readonly isOurs: boolean
}

export interface SetupFacts {
  readonly nowMs: number
  /** False if the steps need the rights of root, which this process does not have. */
  readonly mayWrite: boolean
  readonly missingPrograms: readonly string[]
  readonly missingUsers: readonly string[]
  readonly files: ReadonlyMap<string, FileFact>
  readonly certificates: ReadonlyMap<string, CertificateFact>
  /** Services whose process runs. */
  readonly running: ReadonlySet<Service>
  /** Services that run, start at boot, and answer at their address. */
  readonly serving: ReadonlySet<Service>
  /** `unknown` if the store does not answer although its data folder is not empty. */
  readonly secretsStore: 'empty' | 'sealed' | 'unsealed' | 'unknown'
  readonly platform: 'exists' | 'absent' | 'unknown'
  /** Credentials of an interrupted setup: an operator's token with the unseal key, and possibly the first token. */
  readonly pending: 'none' | 'store keys' | 'all'
  readonly hasUnsealKey: boolean
  /** The publicUrl of an existing configuration of the server. */
  readonly configuredUrl: string | undefined
  /** Whether the address of the setup belongs to this machine. */
  readonly hasAddress: boolean
  /** The address that an earlier setup gave etcd. */
  readonly configuredAddress: string | undefined
  readonly hasEtcdData: boolean
  /** The members of etcd; undefined if none answers. */
  readonly members: readonly EtcdMember[] | undefined
  /** Whether the secrets store on this machine has a vote; `hidden` if its policy does not let setup see that. */
  readonly voter: 'yes' | 'no' | 'hidden' | 'unknown'
  /** The certificates of this machine and of its invitation; absent without an invitation. */
  readonly invited?: InvitedFacts
}

export interface InvitedFacts {
  /** Whether this machine has the certificate of another authority. */
  readonly isForeign: boolean
  /** End of the validity of each certificate of the invitation, by the path that it is written to. */
  readonly notAfterMs: ReadonlyMap<string, number>
}
