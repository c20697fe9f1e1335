INSERT INTO requests (key, answer) VALUES ($1, $2::text::jsonb) ON CONFLICT DO NOTHING
