// Kills processes of a container by the process id that the engine reports. The id is checked first, because an engine in
// its own PID namespace reports ids that belong to other processes in the agent's namespace.

import { readFileSync } from 'node:fs'

/** Kills the process, if it belongs to the container. */
export const killProcess = (pid: number, containerId: string): void => killChecked(pid, pid, containerId)

/** Kills the process and its children, if it belongs to the container: the engine makes it the leader of a group. */
export const killGroup = (pid: number, containerId: string): void => killChecked(pid, -pid, containerId)

function killChecked(pid: number, target: number, containerId: string): void {
  try {
    if (!readFileSync(`/proc/${pid}/cgroup`, 'utf8').includes(containerId)) return
    process.kill(target, 'SIGKILL')
  } catch {
    // The process ended before it could be killed, which is no error.
  }
}
