// A machine with systemd. Every command has a deadline.

import { execFile } from 'node:child_process'
import { chownSync, readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import type { Machine } from './machine.ts'

const run = promisify(execFile)
/** A unit of Type=notify is started when it reports that it is ready. */
const START_MS = 200_000
const ASK_MS = 10_000
const LOG_LINES = '10'

interface User {
  readonly name: string
  readonly uid: number
  readonly gid: number
}

export function createSystemdMachine(): Machine {
  const control = (...words: string[]) => run('systemctl', words, { timeout: START_MS })
  const asks = (...words: string[]) =>
    run('systemctl', words, { timeout: ASK_MS }).then(
      () => true,
      () => false,
    )
  return {
    isRunning: async (unit) =>
      (await asks('is-active', '--quiet', unit)) && (await asks('is-enabled', '--quiet', unit)),
    start: async (unit) => {
      await control('daemon-reload')
      await control('enable', '--now', unit)
    },
    restart: async (unit) => {
      await control('daemon-reload')
      await control('enable', unit)
      await control('restart', unit)
    },
    readLog: async (unit) => {
      const words = ['--unit', unit, '--lines', LOG_LINES, '--no-pager', '--output', 'cat']
      return (await run('journalctl', words, { timeout: ASK_MS })).stdout.trimEnd()
    },
    hasUser: (user) => readUsers().some(({ name }) => name === user),
    nameOwner: (uid) => readUsers().find((user) => user.uid === uid)?.name ?? String(uid),
    giveTo(path, user) {
      const found = readUsers().find(({ name }) => name === user)
      if (found === undefined) throw new Error(`there is no user ${user}`)
      chownSync(path, found.uid, found.gid)
    },
  }
}

const readUsers = (): readonly User[] => parseUsers(readFileSync('/etc/passwd', 'utf8'))

export function parseUsers(passwd: string): readonly User[] {
  return passwd.split('\n').flatMap((line) => {
    const [name = '', , uid = '', gid = ''] = line.split(':')
    return name === '' || uid === '' || gid === '' ? [] : [{ name, uid: Number(uid), gid: Number(gid) }]
  })
}
