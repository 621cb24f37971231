// A real pseudo-terminal for tests: runs a shell in tmux, types keys and reads the visible screen.

import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { env, pid } from 'node:process'
import { promisify } from 'node:util'
import { waitUntil } from '@holdfast/testkit'

const run = promisify(execFile)

export interface Screen {
  /** Types a line into the terminal and presses Enter. */
  type(line: string): Promise<void>
  press(key: string): Promise<void>
  resize(columns: number, rows: number): Promise<void>
  text(): Promise<string>
  /** The visible text of the screen, with colors as escape sequences. */
  styled(): Promise<string>
  /** Waits until the screen shows the text, and returns the screen. */
  until(shown: string | RegExp): Promise<string>
  end(): Promise<void>
}

export async function openScreen(
  variables: { readonly [name: string]: string },
  columns = 100,
  rows = 30,
): Promise<Screen> {
  const socket = `holdfast-${pid}-${randomUUID().slice(0, 8)}`
  const tmux = (...words: string[]) => run('tmux', ['-f', '/dev/null', '-L', socket, ...words])
  const environment = Object.entries({
    PATH: env.PATH ?? '',
    HOME: '/nonexistent',
    PS1: '$ ',
    TERM: 'screen',
    ...variables,
  })
  const shell = ['env', '-i', ...environment.map(([name, value]) => `${name}=${value}`), 'sh']
  await tmux('new-session', '-d', '-x', `${columns}`, '-y', `${rows}`, ...shell)
  const text = async () => (await tmux('capture-pane', '-p')).stdout
  const shows = (screen: string, shown: string | RegExp) =>
    typeof shown === 'string' ? screen.includes(shown) : shown.test(screen)
  // The terminal echoes keys even before the shell reads them, and the prompt would then appear after them.
  await waitUntil(async () => (await text()).startsWith('$'), { what: 'the shell shows its prompt' })
  return {
    type: async (line) => {
      await tmux('send-keys', '-l', line)
      await tmux('send-keys', 'Enter')
    },
    press: async (key) => void (await tmux('send-keys', key)),
    resize: async (width, height) => void (await tmux('resize-window', '-x', `${width}`, '-y', `${height}`)),
    text,
    styled: async () => (await tmux('capture-pane', '-p', '-e')).stdout,
    async until(shown) {
      let screen = ''
      const isThere = async () => {
        screen = await text()
        return shows(screen, shown)
      }
      await waitUntil(isThere, { what: `the screen shows ${shown}` }).catch((error: unknown) => {
        throw new Error(`${error}\n${screen}`)
      })
      return screen
    },
    end: async () => void (await tmux('kill-server').catch(() => {})),
  }
}
