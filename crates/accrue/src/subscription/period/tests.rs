mod oracle;
mod properties;
mod table;

use super::*;
