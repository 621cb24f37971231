// Tests which command lines are accepted, and the error for each kind of mistake.

import { expect, test } from 'vitest'
import { readCommandLine, UsageFault } from './command-line.ts'

const PLAIN = { config: undefined, roles: undefined, init: { reissue: false } }

test.each([
  [['serve'], { command: 'serve', ...PLAIN }],
  [['serve', '--roles', 'api,broker', '--config', 'c'], { config: 'c', roles: 'api,broker' }],
  [['init', '--reissue'], { command: 'init', init: { reissue: true } }],
  [['init', '--operator-token-file', 't'], { init: { reissue: false, operatorTokenFile: 't' } }],
  [['check-config', '--config', 'c'], { command: 'check-config', config: 'c' }],
  [['check-config', '--profile', 'production'], { command: 'check-config', profile: 'production' }],
  [['upgrade', 'plan', '--json'], { command: 'upgrade plan', json: true }],
  [['upgrade', 'finalize', '--config', 'c'], { command: 'upgrade finalize', config: 'c' }],
  [['upgrade', 'oldest', '--config', 'c'], { command: 'upgrade oldest', config: 'c' }],
  [['restored', '--config', 'c'], { command: 'restored', config: 'c', restored: { confirm: false } }],
  [['restored', '--confirm', '--tenant', 't'], { restored: { confirm: true, tenant: 't' } }],
  [
    ['setup', '--single', '--public-url', 'https://a.example:8443', '--dry-run'],
    { command: 'setup', run: { dryRun: true, unsealKeyFile: undefined } },
  ],
  [['doctor', '--json'], { command: 'doctor', run: { config: undefined, withDisk: false, asJson: true } }],
  [['serve', '--help'], { command: 'help' }],
  [['help'], { command: 'help' }],
])('%j is understood', (words, expected) => {
  expect(readCommandLine(words)).toMatchObject(expected)
})

test.each([
  [
    [],
    'There is no command ""; accepted: serve, init, check-config, setup, setup invite, doctor, upgrade plan, upgrade finalize, upgrade oldest, restored.',
  ],
  [['server'], 'There is no command "server"; did you mean serve?'],
  [['serve', '--role', 'api'], 'There is no option "--role"; did you mean --roles?'],
  [['check-config', '--reissue'], 'There is no option "--reissue"; accepted: --config, --profile.'],
  [['check-config', '--profile', 'lab'], 'There is no profile "lab"; accepted: production.'],
  [['upgrade', 'finalise'], 'There is no command "upgrade finalise"; did you mean upgrade finalize?'],
  [['serve', '--config'], '--config has no value.'],
  [['restored', '--tenant', 't'], '--tenant needs --confirm.'],
  [['serve', '--config', 'a', '--config', 'b'], '--config is given twice.'],
  [
    ['setup', '--public-url', 'https://a.example'],
    'setup needs either --single, for the first machine, or --join FILE with an invitation.',
  ],
  [['serve', 'a-token'], 'serve takes options alone.'],
])('rejects %j and says why', (words, why) => {
  expect(() => readCommandLine(words)).toThrow(new UsageFault(why))
})
