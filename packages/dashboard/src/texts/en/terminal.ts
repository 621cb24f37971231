// Texts of the terminal page.

export const terminal = {
  title: 'Terminal',
  label: (name: string) => `Terminal in ${name}`,
  replica: (replica: number, node: string) => `Replica ${replica} on ${node}`,
  first: 'First ready replica',
  command: 'Command',
  connect: 'Connect',
  reconnect: 'Connect again',
  disconnect: 'Disconnect',
  leave: 'Ctrl M leaves the terminal.',
  audited: 'Opening it is audited; what you type is not recorded.',
  none: 'No replica is running, so there is nothing to connect to.',
  noneNext: 'The page Why explains what is missing.',
  states: {
    opening: 'Connecting',
    open: 'Connected',
    closed: 'Disconnected.',
    lost: 'The connection was lost. The command may have been stopped.',
  },
  exited: (code: number) => `The command ended with exit code ${code}.`,
  notFound: (program: string) =>
    `The container has no program ${program}, or it cannot be run. Type another command, such as /bin/ash.`,
  broken: (reason: string) => `The command ended: ${reason}`,
  unreachable: 'The node cannot be reached; the command may not have run.',
  skipped: (kib: number) => `${kib} KiB were skipped: this page read too slowly`,
}
