// The commands on the pages of secrets, rotations, nodes and the platform are command lines that the CLI accepts.

import { nodeEquivalents as nodes } from '@holdfast/dashboard/texts/commands/nodes'
import { platformEquivalents as platform } from '@holdfast/dashboard/texts/commands/platform'
import { secretEquivalents as secrets } from '@holdfast/dashboard/texts/commands/secrets'
import { secretTexts } from '@holdfast/dashboard/texts/en/secrets'
import { expect, test } from 'vitest'
import { chosenCommand } from './chosen-command.ts'

type Shown = readonly [command: string, name: string]

const SECRETS = {
  list: [secrets.list().command, 'secret list'],
  write: [secrets.write('resources/db', 'password').command, 'secret set'],
  consumers: [secrets.consumers('resources/db').command, 'secret consumers'],
  rotation: [secrets.rotation('orders').command, 'secret rotation'],
} satisfies { readonly [kind in keyof typeof secrets]: Shown }

const NODES = {
  join: [nodes.join('acme-4').command, 'node join-token'],
  remove: [nodes.remove('acme-4', 'node_1').command, 'node remove'],
} satisfies { readonly [kind in keyof typeof nodes]: Shown }

const PLATFORM = {
  platform: [platform.platform().command, 'get'],
  tenants: [platform.tenants().command, 'get'],
  tenant: [platform.tenant('acme', 'ten_1').command, 'token list'],
  create: [platform.create('acme').command, 'tenant create'],
} satisfies { readonly [kind in keyof typeof platform]: Shown }

const TAUGHT = secretTexts.emptyCommands.map((command): Shown => [command, 'secret set'])

test.each([...Object.values(SECRETS), ...Object.values(NODES), ...Object.values(PLATFORM), ...TAUGHT])(
  '%s',
  async (typed, name) => {
    expect(await chosenCommand(typed)).toBe(name)
  },
)
