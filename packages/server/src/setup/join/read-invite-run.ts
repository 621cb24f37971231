// The options of `holdfast-server setup invite`, checked together.

import { DEFAULT_PORTS } from '../layout.ts'
import { isMachineAddress } from '../read-setup-run.ts'
import type { InviteRun } from './run-invite.ts'

type InviteRunRead =
  | { readonly kind: 'run'; readonly run: InviteRun }
  | { readonly kind: 'fault'; readonly why: string }

/** A name becomes a part of settings and of file names. */
const NAME = /^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$/

export function readInviteRun(options: ReadonlyMap<string, string>): InviteRunRead {
  const [name, address] = [options.get('--name'), options.get('--address')]
  if (name === undefined || !NAME.test(name))
    return fault('setup invite needs --name NAME: at most 32 lower-case letters, digits and hyphens.')
  if (address === undefined || !isMachineAddress(address))
    return fault(
      'setup invite needs --address IP, at which the machines of the platform reach the new one, for example 10.0.0.2.',
    )
  const file = options.get('--to') ?? `holdfast-invitation-${name}.json`
  return { kind: 'run', run: { name, address, file, root: '/', ports: DEFAULT_PORTS } }
}

const fault = (why: string): InviteRunRead => ({ kind: 'fault', why })
