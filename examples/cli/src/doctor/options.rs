//! The command line.

use ide_mcp_driver::Trust;
use lexopt::prelude::*;
use std::path::PathBuf;

pub(crate) const USAGE: &str = "\
Explain why an agent does not attach to an editor, and what to do.

usage: ide-mcp doctor [--cwd DIR] [--verbose | --json] [--no-connect | --trust-port] [--remove-leftovers]

  --cwd DIR           the directory in which the agent is started (default: the working directory)
  --verbose           show also the checks that found no fault
  --json              print a line of JSON for each finding, and one for the verdict
  --no-connect        look only at variables, directories and files. By default the doctor attaches for a moment to each
                      editor with a lock file, with its token and without; an editor that accepts only one agent may
                      drop that agent, which then comes back by itself
  --trust-port        attach even if another user owns the port, for example because it is forwarded into a container.
                      By default the doctor sends nothing to another user
  --remove-leftovers  first remove the lock files of editors whose process is dead and whose port refuses; this also
                      closes their directory to other users. The doctor never changes anything else

The doctor reads CLAUDE_CONFIG_DIR, HOME and the other variables of the agent: run it in the same terminal as the agent.

JSON: {\"event\":\"finding\",\"id\",\"status\",\"says\",\"means\",\"advice\",\"command\",\"path\",\"port\"}, the last four if any; status is
problem, warning, note or ok; docs/doctor.md lists the ids. The last line is
{\"event\":\"verdict\",\"verdict\",\"port\",\"name\",\"cwd\",\"problems\",\"warnings\",\"notes\",\"ok\",\"status\"}; verdict is attaches,
fails, not_asked, refrains (its environment keeps it from attaching), has_to_choose, finds_nothing or unknown (it reads
a file that the doctor does not); port and name are those of the editor, status is the exit status.
If the doctor cannot begin, there is only {\"event\":\"error\",\"message\",\"status\"}.

exit status: 0; 1 with a problem or a warning; 2 if the doctor could not look, or the command line is wrong";

#[derive(Debug, Default)]
pub(crate) struct Options {
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) verbose: bool,
    pub(crate) json: bool,
    pub(crate) no_connect: bool,
    pub(crate) trust: Trust,
    pub(crate) remove_leftovers: bool,
}

impl Options {
    /// Returns the ports that the doctor connects to, if any.
    pub(crate) fn connects(&self) -> Option<Trust> {
        (!self.no_connect).then_some(self.trust)
    }

    /// Parses the command line; `None` if the user asked for help.
    pub(crate) fn parse(mut parser: lexopt::Parser) -> Result<Option<Self>, lexopt::Error> {
        let mut options = Self::default();
        while let Some(argument) = parser.next()? {
            match argument {
                Short('h') | Long("help") => return Ok(None),
                Long("cwd") => options.cwd = Some(parser.value()?.into()),
                Short('v') | Long("verbose") => options.verbose = true,
                Long("json") => options.json = true,
                Long("no-connect") => options.no_connect = true,
                Long("trust-port") => options.trust = Trust::EveryUser,
                Long("remove-leftovers") => options.remove_leftovers = true,
                other @ (Short(_) | Long(_) | Value(_)) => return Err(other.unexpected()),
            }
        }
        if options.verbose && options.json {
            return Err("--verbose and --json exclude each other: --json says everything".into());
        }
        Ok(Some(options))
    }
}
