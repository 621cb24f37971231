// `holdfast get`: lists resources of one kind, or shows one of them.

import { LIVE_KINDS, RESOURCE_NAMES } from '../args/resource-names.ts'
import type { OnlineCommand } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { printError, printFailure } from '../print/failure.ts'
import { OUTPUT_OPTION, refuseYamlWatch } from '../print/output.ts'
import { print } from '../terminal/terminal.ts'

export const get: OnlineCommand = {
  name: 'get',
  summary: 'list resources of one kind, or show one of them',
  args: [
    { name: 'kind', summary: 'kind of resource', choices: RESOURCE_NAMES },
    {
      name: 'name',
      summary: 'name of one resource',
      optional: true,
      completes: ([kind = '']) => LIVE_KINDS[kind],
    },
  ],
  options: [
    OUTPUT_OPTION,
    {
      flags: '-w, --watch',
      summary: 'keep listing and print each line again when it changes; with -o json one object per line',
    },
  ],
  examples: [
    ['holdfast get deployments', 'Lists all deployments of the tenant.'],
    ['holdfast get deployment web -o yaml', 'Shows one deployment with all its fields.'],
    ['holdfast get nodes -o wide -w', 'Lists the nodes and then every change.'],
  ],
  online: true,
  async run({ args: [kind = '', name], terminal, text, flag }, client) {
    const { findResource } = await import('../resources/index.ts')
    const resource = findResource(kind)
    if (resource === undefined) return EXIT.usage
    const form = text('output')
    if (flag('watch') && form === 'yaml') return refuseYamlWatch(terminal)
    const first = await resource.read(client, name)
    if (!first.ok) return printFailure(terminal, first.failure)
    const isFound = first.value.rows({ nowMs: terminal.now() }).size > 0
    if (name !== undefined && !isFound) {
      printError(terminal, `there is no ${kind} ${name}`)
      return EXIT.notFound
    }
    if (!flag('watch')) {
      await first.value.print(terminal, form)
      return EXIT.ok
    }
    const { watchRows } = await import('../follow/watch-rows.ts')
    const readAgain = () => resource.read(client, name)
    if (form !== 'json' && form !== 'name') {
      await first.value.print(terminal, form)
      return watchRows(terminal, first.value, readAgain, { wide: form === 'wide' })
    }
    for (const row of first.value.rows({ nowMs: terminal.now(), form }).values()) print(terminal, row)
    return watchRows(terminal, first.value, readAgain, { form })
  },
}
