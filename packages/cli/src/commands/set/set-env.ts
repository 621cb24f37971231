// `holdfast set env`: sets and removes environment variables of a deployment.

import { DEPLOYMENT_ARGUMENT } from '../../args/deployment-argument.ts'
import { CHANGE_OPTIONS, changeDeployment } from '../../change-deployment.ts'
import type { OnlineCommand } from '../../command.ts'
import { EXIT } from '../../exit-codes.ts'
import { printError } from '../../print/failure.ts'

export const setEnv: OnlineCommand = {
  name: 'set env',
  summary: 'set or remove environment variables of a deployment and roll it out',
  details:
    'KEY=VALUE sets a variable, KEY- removes it; the others stay. Use holdfast secret set for passwords and tokens.',
  args: [
    DEPLOYMENT_ARGUMENT,
    { name: 'change', summary: 'KEY=VALUE to set a variable, KEY- to remove it', many: true },
  ],
  options: CHANGE_OPTIONS,
  examples: [
    ['holdfast set env web LOG_LEVEL=debug', 'Sets one variable.'],
    ['holdfast set env web REGION=eu DEBUG- --wait', 'Sets one variable, removes another, and waits.'],
  ],
  online: true,
  async run(invocation, client) {
    const [, ...typed] = invocation.args
    const changes = typed.map(changeOf)
    const wrong = changes.indexOf(undefined)
    if (wrong >= 0) {
      // The word is not quoted, because it may be a secret that was typed in the wrong place.
      printError(invocation.terminal, `change ${wrong + 1} is neither KEY=VALUE nor KEY-`)
      return EXIT.usage
    }
    return changeDeployment(invocation, client, ({ environment = {} }) => {
      const next = new Map(Object.entries(environment))
      for (const { key, value } of changes.flatMap((change) => change ?? []))
        if (value === undefined) next.delete(key)
        else next.set(key, value)
      return { sent: { environment: next.size === 0 ? null : Object.fromEntries(next) }, outcome: 'updated' }
    })
  },
}

interface Change {
  readonly key: string
  /** Absent: the variable is removed. */
  readonly value?: string
}

function changeOf(word: string): Change | undefined {
  const [, key, value] = /^([^=]+)=(.*)$/s.exec(word) ?? []
  if (key !== undefined && value !== undefined) return { key, value }
  return /^[^=]+-$/.test(word) ? { key: word.slice(0, -1) } : undefined
}
