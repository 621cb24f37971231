// `holdfast whoami`: shows the tenant, token and role that commands use.

import type { OnlineCommand } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { outArea } from '../print/area.ts'
import { printFailure } from '../print/failure.ts'
import { yamlText } from '../print/output.ts'
import { factLines } from '../print/sections.ts'
import { print } from '../terminal/terminal.ts'

export const whoami: OnlineCommand = {
  name: 'whoami',
  summary: 'show the tenant, token and role that commands use',
  options: [{ flags: '-o, --output <format>', summary: 'output format', choices: ['json', 'yaml'] }],
  examples: [['holdfast whoami', 'Shows who the platform takes you for, and until when.']],
  online: true,
  async run(invocation, client) {
    const { terminal, text } = invocation
    const me = await client.tenants.me()
    if (!me.ok) return printFailure(terminal, me.failure)
    if (text('output') === 'json') print(terminal, JSON.stringify(me.value, null, 2))
    else if (text('output') === 'yaml') terminal.out(await yamlText(me.value))
    else {
      const { tenant, token } = me.value
      const chosen = await invocation.settings()
      const { context = '', url = '' } = chosen.ok ? chosen.settings : {}
      const facts: [string, string][] = [
        ['Tenant', `${tenant.name} (${tenant.id})`],
        ['Token', `${token.name} (${token.id})`],
        ['Role', token.role],
        ['Expires', token.expiresAt],
        ['Platform', context === '' ? url : `${url} (context ${context})`],
      ]
      for (const line of factLines(facts, outArea(terminal))) print(terminal, line)
    }
    return EXIT.ok
  },
}
